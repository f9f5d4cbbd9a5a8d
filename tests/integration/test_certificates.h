// SPDX-License-Identifier: Apache-2.0
// Certificates for tests, made by the program `openssl`, in a folder that is removed at the end.
#ifndef ARCLANE_TESTS_INTEGRATION_TEST_CERTIFICATES_H_
#define ARCLANE_TESTS_INTEGRATION_TEST_CERTIFICATES_H_

#include <string>

namespace arclane {

struct CertificateFiles {
  std::string certificate;
  std::string key;
};

class TestCertificates {
 public:
  // Fails the test when openssl cannot be run.
  TestCertificates();
  ~TestCertificates();
  TestCertificates(const TestCertificates&) = delete;
  TestCertificates& operator=(const TestCertificates&) = delete;

  // An authority of its own.
  CertificateFiles MakeAuthority(const std::string& name);
  // Signed by `authority`. `san` is a subject alternative name as openssl writes them, such as
  // "DNS:localhost,IP:127.0.0.1". Valid for a day from `start_days` days from now on; one that is
  // expired starts two days ago.
  CertificateFiles MakeCertificate(const std::string& name, const CertificateFiles& authority,
                                   const std::string& san, int start_days = 0);
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  void Run(const std::string& arguments);

  std::string folder_;
};

// The whole text of a file; empty when it cannot be read.
std::string TextOfFile(const std::string& path);
// Replaces `to` by the content of `from` in one step, as tools that rotate certificates do.
void ReplaceFile(const std::string& from, const std::string& to);

}  // namespace arclane

#endif  // ARCLANE_TESTS_INTEGRATION_TEST_CERTIFICATES_H_
