// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/test_certificates.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace arclane {
namespace {

constexpr std::time_t kDay = 86400;

// As `openssl ca -startdate` reads it.
std::string TimeText(std::time_t time) {
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d%H%M%SZ", &parts);
  return text;
}

}  // namespace

TestCertificates::TestCertificates() {
  std::string pattern = ::testing::TempDir() + "arclane_certificates_XXXXXX";
  folder_ = mkdtemp(pattern.data());
  std::ofstream(Path("ca.cnf")) << "[ca]\ndefault_ca=d\n[d]\ndatabase=" << Path("index")
                                << "\nnew_certs_dir=" << folder_ << "\nrand_serial=yes\n"
                                << "default_md=sha256\npolicy=p\nunique_subject=no\n"
                                << "copy_extensions=copy\n[p]\ncommonName=supplied\n";
  std::ofstream(Path("index")) << "";
}

TestCertificates::~TestCertificates() { std::filesystem::remove_all(folder_); }

void TestCertificates::Run(const std::string& arguments) {
  const std::string log = Path("openssl.log");
  const std::string command = "openssl " + arguments + " >" + log + " 2>&1 </dev/null";
  if (std::system(command.c_str()) != 0) ADD_FAILURE() << command << "\n" << TextOfFile(log);
}

CertificateFiles TestCertificates::MakeAuthority(const std::string& name) {
  const CertificateFiles files = {Path(name + ".pem"), Path(name + ".key")};
  Run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" +
      name + " -keyout " + files.key + " -out " + files.certificate);
  return files;
}

CertificateFiles TestCertificates::MakeCertificate(const std::string& name,
                                                   const CertificateFiles& authority,
                                                   const std::string& san, int start_days) {
  const CertificateFiles files = {Path(name + ".pem"), Path(name + ".key")};
  const std::string request = Path(name + ".csr");
  Run("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=" + name +
      " -addext subjectAltName=" + san + " -keyout " + files.key + " -out " + request);
  // A minute early: the clock of the check may be a little behind.
  const std::time_t start = std::time(nullptr) - 60 + start_days * kDay;
  Run("ca -batch -notext -config " + Path("ca.cnf") + " -cert " + authority.certificate +
      " -keyfile " + authority.key + " -startdate " + TimeText(start) + " -enddate " +
      TimeText(start + kDay) + " -in " + request + " -out " + files.certificate);
  return files;
}

std::string TextOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void ReplaceFile(const std::string& from, const std::string& to) {
  std::ofstream(to + ".new", std::ios::binary) << TextOfFile(from);
  std::filesystem::rename(to + ".new", to);
}

}  // namespace arclane
