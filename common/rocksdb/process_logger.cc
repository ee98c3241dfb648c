#include "common/rocksdb/process_logger.h"

#include <cstdarg>
#include <cstdio>

#include "absl/strings/ascii.h"
#include "common/base/log.h"

namespace kernelmill {
namespace {

class ProcessLogger : public rocksdb::Logger {
 public:
  ProcessLogger() : rocksdb::Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  // The plain form carries a file's header and what has no level; there is no file here.
  void Logv(const char*, va_list) override {}
  void LogHeader(const char*, va_list) override {}

  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level >= rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    char text[1024];  // a longer line is cut
    std::vsnprintf(text, sizeof(text), format, arguments);
    Log(level == rocksdb::InfoLogLevel::WARN_LEVEL ? LogLevel::kWarning : LogLevel::kError,
        "rocksdb", {{"text", absl::StripAsciiWhitespace(text)}});
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> NewProcessLogger() { return std::make_shared<ProcessLogger>(); }

}  // namespace kernelmill
