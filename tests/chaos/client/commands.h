#ifndef KERNELMILL_TESTS_CHAOS_CLIENT_COMMANDS_H_
#define KERNELMILL_TESTS_CHAOS_CLIENT_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// What tests/chaos does over gRPC that no program of ours would. Every command takes its words from
// the command line, writes lines for the tests to read, and returns the exit status.
namespace kernelmill::chaos {

using Words = std::vector<std::string>;

// Bytes that do not compress, the same for the same numbers.
std::string MakeBlob(uint64_t seed, uint64_t index, size_t size);

// health ADDRESS SERVICE: SERVING, NOT_SERVING or UNREACHABLE; "": the server's own.
int Health(const Words& words);
// put STORE SEED COUNT BYTES: uploads made blobs, each until it is stored; a line with its digest
// after each acknowledgement.
int Put(const Words& words);
// check STORE SEED COUNT BYTES: reads the same blobs back, as streams and in batches; "digest
// status" for each, where WRONG stands for an OK with other bytes.
int Check(const Words& words);
// hostile STORE COORDINATOR: requests that nobody should send; "case<TAB>code" for each.
int Hostile(const Words& words);
// stall STORE STREAMS: uploads that stop after their first piece, and reads that nobody takes;
// holds them until its standard input ends. Writes "stalled" once all are open.
int Stall(const Words& words);
// storm ADDRESS COUNT AT_ONCE KIND A B: COUNT calls, AT_ONCE of them at a time, all alike. KIND A B
// is one of: submits SOURCES BYTES (of each source), leases STAGE WAIT_MS, extracts BYTES FILES,
// watches JOB 0. Writes "begun" once the first have been sent, then "CODE<TAB>message" for each
// answer. KERNELMILL_TLS_CA, _CERT and _KEY say who calls.
int Storm(const Words& words);
// guess COORDINATOR TASK TOKENS: hands in an error for the task under each token from 1 on; writes
// "CODE<TAB>answers".
int Guess(const Words& words);
// work-proxy LISTEN COORDINATOR SEED: stands between workers and their coordinator, and makes
// completions time out after they were taken, come twice, late, out of order and with forged
// tokens, until SIGTERM. Writes what it did, and "violation: ..." for every answer that is not as
// promised; exit 1 if any.
int WorkProxy(const Words& words);
// forge LISTEN COORDINATOR STORE WHAT WORD...: stands between workers and their coordinator, and
// makes liars of them: changes their results before it hands them in, until SIGTERM. Writes "forged
// STAGE CODE" with the coordinator's answer to each.
//   pin URL COMMIT   another repository in the place of what is pinned
//   source TEXT      the extractor's first kernel of each shard has that text, and its hash
//   hash TEXT        the linked shards' first kernel has the hash of that text
//   manifest TEXT    the dataset's first kernel has that text, and its hash
int Forge(const Words& words);

}  // namespace kernelmill::chaos

#endif  // KERNELMILL_TESTS_CHAOS_CLIENT_COMMANDS_H_
