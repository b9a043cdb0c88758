package io.lendstream.core.policy;

import io.lendstream.core.id.JobId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The jobs in the views of several kinds of GPU, each job once. The jobs of a kind usually come in the order of those
 * before: only those that do not are looked up by name.
 */
public final class JobsOnKinds {
    private static final int NOWHERE = -1;

    private final List<OfJob> all;
    private final Map<JobId, Integer> places = new HashMap<>();

    /** A job on each kind that it may use. */
    public static final class OfJob {
        private final JobView any;
        private final JobId name;
        private final @Nullable JobView[] on;
        private int home = NOWHERE;
        private boolean isOpen;

        private OfJob(JobView any, JobId name, int kinds) {
            this.any = any;
            this.name = name;
            this.on = new @Nullable JobView[kinds];
        }

        private void add(int kind, JobView here) {
            isOpen = true;
            on[kind] = here;
            if (!runs() && !here.gpus().isEmpty()) {
                home = kind;
            }
        }

        public JobId name() {
            return name;
        }

        /** The job on the first kind that shows it. */
        public JobView any() {
            return any;
        }

        /** The job on a kind, if it may be changed to GPUs of that kind. */
        public Optional<JobView> on(int kind) {
            return Optional.ofNullable(on[kind]);
        }

        /** The place of the kind of which it has GPUs, or -1. */
        public int home() {
            return home;
        }

        /** Whether it has GPUs. */
        public boolean runs() {
            return home != NOWHERE;
        }

        /** Whether the plan may change it. */
        public boolean isOpen() {
            return isOpen;
        }
    }

    /** @param kinds a view for each kind; at least one */
    public JobsOnKinds(List<ClusterView> kinds) {
        this.all = new ArrayList<>(kinds.get(0).jobCount());
        for (int k = 0; k < kinds.size(); k++) {
            ClusterView view = kinds.get(k);
            Set<JobId> fixed = view.fixed();
            int next = 0;
            for (JobView job : view.jobs()) {
                JobId name = job.job();
                int place = k == 0 || isAt(next, name) ? next : place(name);
                if (place == all.size()) {
                    all.add(new OfJob(job, name, kinds.size()));
                }
                next = place + 1;
                if (fixed.isEmpty() || !fixed.contains(name)) {
                    all.get(place).add(k, job);
                }
            }
        }
    }

    private boolean isAt(int place, JobId name) {
        return place < all.size() && all.get(place).name.equals(name);
    }

    /** The place of a job, or the next one. */
    private int place(JobId name) {
        for (int i = places.size(); i < all.size(); i++) {
            places.put(all.get(i).name, i);
        }
        return places.getOrDefault(name, all.size());
    }

    /** All jobs, also those that may not be changed. */
    public List<OfJob> all() {
        return all;
    }

    /** Those that may be changed. */
    public List<OfJob> open() {
        List<OfJob> open = new ArrayList<>(all.size());
        for (OfJob job : all) {
            if (job.isOpen) {
                open.add(job);
            }
        }
        return open;
    }
}
