package io.lendstream.core.scheduler;

import java.util.List;
import java.util.Map;

/**
 * The parts of a step after the event is applied, in the order in which they run. {@link WorkDue} selects the phases
 * that an event needs.
 */
enum Phase {
    /** Acts on deadlines and leases that have passed. */
    DEADLINES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Deadlines(step, scheduler.settings()).expire(true);
        }
    },
    /** What runs already and is claimed is taken over. */
    ADOPTION {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Adoption(step, scheduler.settings()).run();
        }
    },
    /** Jobs that have lost GPUs get a new allocation. Replicas that have lost some of their units are stopped. */
    LOST_GPUS {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new JobChanges(step, scheduler.settings()).dropLostGpus(true);
            new GroupChanges(step, scheduler.settings()).stopBroken();
            new ProgramWaits(step).hold();
        }
    },
    /** Services that are no longer declared give up what they have. */
    REMOVED_SERVICES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new ServiceRemoval(step).stopReplicas(scheduler.settings());
        }
    },
    /** The plan of MIG instances, and the next stage of the way to it. */
    CUTS {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Repartitioning(step, scheduler.policy(), scheduler.settings(), scheduler.latencies()).advance();
        }
    },
    /** The service that the event is about gets the replicas it needs and its batch settings. */
    HEARD_SERVICE {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            step.heard().ifPresent(service -> {
                new Inference(step, scheduler.policy(), scheduler.settings()).serve(service);
                new BatchChanges(step, scheduler.settings()).adjust(List.of(service));
            });
        }
    },
    /** All services get the replicas they need and their batch settings. */
    ALL_SERVICES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Inference(step, scheduler.policy(), scheduler.settings()).serve();
            new BatchChanges(step, scheduler.settings()).adjust(step.services().values());
        }
    },
    /** Waiting jobs and short services get the nominal quota of their queues from queues that have more than theirs. */
    QUOTA {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new QuotaAsks(step, scheduler.policy(), scheduler.settings()).run();
        }
    },
    /** A new plan of training. */
    PLAN {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            training(scheduler, step).plan();
        }
    },
    /** Jobs move towards the plan as far as GPUs are free. */
    MOVES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            training(scheduler, step).carryOut(Map.of());
        }
    },
    /** Leases are renewed, or loans taken back that must not stay. */
    LEASES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Deadlines(step, scheduler.settings()).keepLeases();
        }
    },
    /** The next plan comes sooner where this step has changed what plans rest on. */
    NEXT_PLAN {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            training(scheduler, step).planAfterChange();
        }
    };

    abstract void run(Scheduler scheduler, StepBuilder step);

    private static Training training(Scheduler scheduler, StepBuilder step) {
        return new Training(step, scheduler.policy(), scheduler.settings());
    }
}
