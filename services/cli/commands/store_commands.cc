#include "services/cli/commands/store_commands.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status.h"
#include "common/base/text.h"
#include "common/rpc/server.h"
#include "kernelmill/v1/store.pb.h"
#include "services/cli/adapters/grpc/grpc_store_client.h"
#include "services/cli/commands/interrupt.h"
#include "services/cli/core/outcome.h"
#include "services/cli/core/status_json.h"
#include "services/cli/core/store_text.h"
#include "services/store/server/store_server.h"

namespace kernelmill::cli {
namespace {

// A store, until a signal ends its calls.
class Connection {
 public:
  Connection(const std::string& address, rpc::TerminationSignal& signal, Console& console)
      : store_(NewGrpcStoreClient(rpc::Connect(address), ShortPatience(console))),
        interrupt_(signal, [this] { store_->Interrupt(); }) {}

  StoreClient& store() { return *store_; }

 private:
  static Patience ShortPatience(Console& console) {
    Patience patience;
    patience.on_away = [&console](const absl::Status& status) {
      console.Note(absl::StrCat("the store does not answer; trying again: ", ErrorLine(status)));
    };
    return patience;
  }

  const std::unique_ptr<StoreClient> store_;
  const Interrupt interrupt_;
};

template <typename Message>
void Print(const Message& message, const std::string& text, Console& console) {
  console.Result(console.json() ? MessageJson(message) + "\n" : text);
}

}  // namespace

absl::StatusOr<int> StoreStat(const std::string& address, rpc::TerminationSignal& signal,
                              Console& console) {
  Connection connection(address, signal, console);
  ASSIGN_OR_RETURN(const v1::StatResponse stat, connection.store().Stat());
  Print(stat, StatText(stat), console);
  return kDone;
}

absl::StatusOr<int> StoreVerify(const std::string& address, bool drop_damaged,
                                rpc::TerminationSignal& signal, Console& console) {
  Connection connection(address, signal, console);
  ASSIGN_OR_RETURN(const v1::StatResponse whole, connection.store().Stat());
  absl::StatusOr<v1::VerifyProgress> last =
      connection.store().Verify(drop_damaged, [&](const v1::VerifyProgress& progress) {
        console.Progress(console.json() ? MessageJson(progress) : VerifyLine(progress, whole));
      });
  console.EndProgress();
  RETURN_IF_ERROR(last.status());
  Print(*last, VerifyText(*last, drop_damaged), console);
  return last->damaged().empty() ? kDone : kInputsFailed;
}

absl::StatusOr<int> StoreCollectGarbage(const std::string& address, int64_t target_bytes,
                                        rpc::TerminationSignal& signal, Console& console) {
  Connection connection(address, signal, console);
  ASSIGN_OR_RETURN(const v1::CollectGarbageResponse response,
                   connection.store().CollectGarbage(target_bytes));
  Print(response, GarbageText(response), console);
  return kDone;
}

absl::StatusOr<int> StoreBackup(const std::string& address, const std::string& name,
                                rpc::TerminationSignal& signal, Console& console) {
  Connection connection(address, signal, console);
  ASSIGN_OR_RETURN(const v1::BackupResponse response, connection.store().Backup(name));
  Print(response, BackupText(response), console);
  return kDone;
}

absl::StatusOr<int> StoreRestore(const std::string& backup_dir, const std::string& data_dir,
                                 Console& console) {
  RETURN_IF_ERROR(Annotate(store::StoreServer::Restore(backup_dir, data_dir), "restore"));
  console.Result(console.json() ? absl::StrCat("{\"restored\":", JsonString(data_dir),
                                               ",\"from\":", JsonString(backup_dir), "}\n")
                                : absl::StrCat(data_dir, "  restored from ", backup_dir, "\n"));
  return kDone;
}

}  // namespace kernelmill::cli
