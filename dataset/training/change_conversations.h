#ifndef KERNELMILL_DATASET_TRAINING_CHANGE_CONVERSATIONS_H_
#define KERNELMILL_DATASET_TRAINING_CHANGE_CONVERSATIONS_H_

#include <string>
#include <vector>

#include "dataset/training/conversations.h"
#include "kernelmill/v1/rows.pb.h"

namespace kernelmill::dataset {

// The names of the templates of changes, in the order of a change's conversations.
const std::vector<std::string>& ChangeTemplateNames();

// Makes the conversations of a change of a kernel. Everything in them comes from the row. A
// template that is for changes of another kind is in neither list. Thread-safe.
//
//   repair    a change of the kind fix, or one that is a repair by the compilers: the kernel before,
//             and what the message and the compiler say is wrong; the answer is the kernel after.
//   optimise  one of the kinds speed and tuning: the same of what is to be better.
//   review    one of any kind: the difference; the answer is the message.
//
// A question can be answered from what it shows. So these are left out: changes of a merge, of a
// commit that undoes another or was undone, of more kernels than a message can speak of, and of
// none but comments and layout; messages that say nothing, or nothing of this kernel, unless a
// compiler's error says it; for code, changes of the parameters and the grid (the launcher is not
// shown), those that need a name which is not shown, and code that compilers refuse. No question
// holds its answer.
Conversations MakeChangeConversations(const v1::HistoryRow& row);

}  // namespace kernelmill::dataset

#endif  // KERNELMILL_DATASET_TRAINING_CHANGE_CONVERSATIONS_H_
