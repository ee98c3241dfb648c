#ifndef KERNELMILL_CLIENT_REVIEW_TERMINAL_H_
#define KERNELMILL_CLIENT_REVIEW_TERMINAL_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kernelmill::client {

// Where a person sits: text out, keys in. What is written is plain text: any terminal shows it.
class Terminal {
 public:
  static constexpr int kEnd = -1;  // of the input, or the program is to end

  virtual ~Terminal() = default;
  virtual int rows() const = 0;
  virtual int columns() const = 0;
  virtual void Write(absl::string_view text) = 0;
  // The next key as a byte, 0 to 255, without waiting for a line; kEnd.
  virtual int ReadKey() = 0;
};

// The terminal of this process's standard input and output, which is set to give each key at once
// and back when it is gone. `ended` is asked now and then whether the program is to end.
// FAILED_PRECONDITION: there is none.
absl::StatusOr<std::unique_ptr<Terminal>> OpenTerminal(std::function<bool()> ended);

}  // namespace kernelmill::client

#endif  // KERNELMILL_CLIENT_REVIEW_TERMINAL_H_
