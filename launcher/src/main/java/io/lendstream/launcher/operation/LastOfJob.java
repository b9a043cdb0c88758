package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.launcher.cli.UserError;
import java.util.Optional;

/** Searches all decisions for the newest about a job: a change of its GPUs, or the answer to its deadline. */
final class LastOfJob {
    private final String job;
    private Optional<Decision> last = Optional.empty();

    LastOfJob(String job) {
        this.job = job;
    }

    void take(Decision decision) {
        boolean isAboutJob =
                (decision.action().isHold() || decision.action().jobChange().isPresent())
                        && decision.action().target().equals(job);
        boolean isNewer =
                last.filter(known -> decision.at().isBefore(known.at())).isEmpty();
        if (isAboutJob && isNewer) {
            last = Optional.of(decision);
        }
    }

    /** The decision's ID. */
    DecisionId wanted() {
        return last.map(Decision::id)
                .orElseThrow(() -> UserError.failed(
                        "there is no decision about job %s. If 'lendstream get jobs' has it as queued, no plan has given it a GPU yet: 'lendstream explain gpu GPU' of a GPU that it may have shows the next plan, and why the GPU is not given away. If it runs already, 'lendstream adopt --dry-run' says why it is not taken over."
                                .formatted(job)));
    }
}
