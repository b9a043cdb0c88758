package io.lendstream.core.scheduler;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.QuotaUse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * GPUs for a job.
 *
 * @param use the use of the quota that they count in
 * @param free GPUs that no tenant has, or that are about to be free
 */
record QuotaClaim(Ask ask, QuotaUse use, List<GpuId> free, List<QuotaVictims.Loss> losses) {
    /** What a job asks for: so many GPUs of a kind. */
    record Ask(JobState job, ClusterQueue queue, Optional<KindId> kind, int gpus) {
        /** The same ask for another number of GPUs. */
        Ask of(int other) {
            return new Ask(job, queue, kind, other);
        }

        /**
         * A name of asks of which each fails if one for fewer GPUs has failed.
         *
         * @param inAreas whether the nodes of the GPUs matter
         */
        String alike(boolean inAreas) {
            String all = queue.queue() + " " + kind.map(KindId::value).orElse("");
            if (!inAreas) {
                return all;
            }
            String shape = all + " " + job.spec().shape().inWords();
            return job.spec().shape().wholeNodes() ? shape + " " + gpus : shape;
        }
    }

    /**
     * What a claim costs others.
     *
     * @param priority the highest one of the jobs that lose GPUs
     * @param loans GPUs of inference in it
     */
    record Cost(int priority, int lost, int loans) implements Comparable<Cost> {
        private static final Comparator<Cost> ORDER = Comparator.comparingInt(Cost::priority)
                .thenComparingInt(Cost::lost)
                .thenComparingInt(Cost::loans);

        @Override
        public int compareTo(Cost other) {
            return ORDER.compare(this, other);
        }
    }

    JobState job() {
        return ask.job();
    }

    /** The GPUs that jobs lose. */
    int lost() {
        int lost = 0;
        for (QuotaVictims.Loss loss : losses) {
            lost += loss.job().gpus() - loss.left().size();
        }
        return lost;
    }

    /** The GPUs that its job gets: free ones first. */
    List<GpuId> target() {
        List<GpuId> units = new ArrayList<>(free);
        losses.forEach(loss -> units.addAll(loss.given()));
        return units.stream().limit(ask.gpus()).sorted().toList();
    }
}
