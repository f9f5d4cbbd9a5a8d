// SPDX-License-Identifier: Apache-2.0
#ifndef ARCLANE_SERVER_SERVICE_PROCESS_SETTINGS_H_
#define ARCLANE_SERVER_SERVICE_PROCESS_SETTINGS_H_

namespace arclane {

// Sets the whole process up as a server wants it, before it has threads. Of malloc's settings
// environment variables of the same meaning win.
//  - malloc gives threads arenas of their own, up to eight for each processor of the host, whatever
//    part of them this process may use. A few more than the threads that allocate all the time are
//    enough.
//  - It returns pages as soon as a batch's answers are sent, only to be given zeroed ones for the
//    next: half of a batch's processor time. What was freed is kept up to 64 MiB an arena, and
//    blocks below 32 MiB come from what was kept.
//  - A write beyond the limit on the size of files fails, as on a full disk, rather than end the
//    process: the store then refuses the change.
//  - Debian's Abseil checks the order of locks at every lock, of which gRPC has many: that is for
//  tests.
void SetUpServerProcess(int planner_threads);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PROCESS_SETTINGS_H_
