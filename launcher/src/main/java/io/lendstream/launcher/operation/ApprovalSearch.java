package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.history.DecisionOutcome;
import java.util.Optional;

/** Searches all decisions for the one that an operator's approval made of advice. */
final class ApprovalSearch {
    /** The part of the reason that an approved decision has. */
    private final String mark;

    private Optional<DecisionId> found = Optional.empty();

    /** @param advice the decision that may be advice */
    ApprovalSearch(DecisionId advice) {
        mark = "(advice %s, approved by ".formatted(advice);
    }

    void take(Decision decision) {
        if (found.isEmpty()
                && decision.reason().is(ReasonCode.APPROVED)
                && !decision.action().isHold()
                && decision.reason().text().contains(mark)) {
            found = Optional.of(decision.id());
        }
    }

    /** The binding decision made of the advice; empty if there is none. */
    Optional<DecisionId> approvedAs() {
        return found;
    }

    /** The outcome for people. Actuators report on no advice, so that its approval counts. */
    String inWords(DecisionOutcome outcome) {
        if (!outcome.decision().advisory() || outcome.decision().action().isHold()) {
            return outcome.inWords();
        }
        return found.map(id -> "advice; approved as " + id).orElse("only advice; not approved");
    }
}
