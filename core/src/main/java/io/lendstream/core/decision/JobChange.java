package io.lendstream.core.decision;

import io.lendstream.core.id.JobId;
import java.util.Optional;

/** The change of a job by a decision: a lend, a reclaim, a resize, or the adoption of it. */
public record JobChange(JobId job, Allocation allocation) {
    static final Action.Cases<Optional<JobChange>> OF_ACTION = new OfAction();

    private static final class OfAction implements Action.Cases<Optional<JobChange>> {
        @Override
        public Optional<JobChange> lend(Action.Lend lend) {
            return Optional.of(new JobChange(lend.job(), lend.allocation()));
        }

        @Override
        public Optional<JobChange> reclaim(Action.Reclaim reclaim) {
            return Optional.of(new JobChange(reclaim.job(), reclaim.allocation()));
        }

        @Override
        public Optional<JobChange> resize(Action.Resize resize) {
            return Optional.of(new JobChange(resize.job(), resize.allocation()));
        }

        @Override
        public Optional<JobChange> serve(Action.Serve serve) {
            return Optional.empty();
        }

        @Override
        public Optional<JobChange> idle(Action.Idle idle) {
            return Optional.empty();
        }

        @Override
        public Optional<JobChange> batching(Action.Batching batching) {
            return Optional.empty();
        }

        @Override
        public Optional<JobChange> repartition(Action.Repartition repartition) {
            return Optional.empty();
        }

        @Override
        public Optional<JobChange> renew(Action.Renew renew) {
            return Optional.empty();
        }

        @Override
        public Optional<JobChange> hold(Action.Hold hold) {
            return Optional.empty();
        }

        @Override
        public Optional<JobChange> adopt(Action.Adopt adopt) {
            return adopt.tenant()
                    .jobId()
                    .flatMap(job -> adopt.allocation().map(allocation -> new JobChange(job, allocation)));
        }
    }
}
