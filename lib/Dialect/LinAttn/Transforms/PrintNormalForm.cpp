//===- PrintNormalForm.cpp - prints each recurrence as equations ----------===//

#include "linattn/Dialect/LinAttn/Transforms/Normalize.h"
#include "linattn/Dialect/LinAttn/Transforms/Passes.h"

#include "llvm/Support/raw_ostream.h"

namespace linattn {
#define GEN_PASS_DEF_PRINTNORMALFORMPASS
#include "linattn/Dialect/LinAttn/Transforms/Passes.h.inc"
} // namespace linattn

using namespace mlir;
using namespace linattn;

namespace {
struct PrintNormalFormPass
    : linattn::impl::PrintNormalFormPassBase<PrintNormalFormPass> {
  using PrintNormalFormPassBase::PrintNormalFormPassBase;
  void runOnOperation() override {
    SmallVector<RecurrenceOp> recurrences;
    getOperation()->walk([&](RecurrenceOp op) { recurrences.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RecurrenceOp recurrence : recurrences) {
      // A copy, since the step has to be simplified; it stands beside the
      // original so that it knows its function.
      rewriter.setInsertionPoint(recurrence);
      auto copy = cast<RecurrenceOp>(rewriter.clone(*recurrence));
      NormalizeCounts counts;
      simplifyStep(rewriter, copy, counts);
      FailureOr<NormalForm> form =
          NormalForm::compute(copy, DiagnosticSeverity::Remark);
      if (succeeded(form)) {
        form->print(llvm::outs(), positions);
        ++numPrinted;
      } else {
        printRecurrenceTitle(llvm::outs(), copy);
        llvm::outs() << "  no normal form\n";
      }
      rewriter.eraseOp(copy);
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
