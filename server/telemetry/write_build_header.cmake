# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT with VERSION and the commit of SOURCE_DIR, if that changes the file.
if(NOT COMMIT)
  execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE COMMIT
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT unknown)
  endif()
endif()
set(text "#define ARCLANE_BUILD_VERSION \"${VERSION}\"\n#define ARCLANE_BUILD_COMMIT \"${COMMIT}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
