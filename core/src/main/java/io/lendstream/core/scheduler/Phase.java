package io.lendstream.core.scheduler;

import java.util.List;
import java.util.Map;

/** What a step does once the state has followed the event, in this order. {@link WorkDue} says which of it an event can concern. */
enum Phase {
    /** Deadlines and leases that are over. */
    DEADLINES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Deadlines(step, scheduler.settings()).expire(true);
        }
    },
    /** Jobs are told of GPUs that they have lost. */
    LOST_GPUS {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new JobChanges(step, scheduler.settings()).dropLostGpus(true);
        }
    },
    /** The plan of MIG instances, and the next stage of the way to it. */
    CUTS {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Repartitioning(step, scheduler.policy(), scheduler.settings(), scheduler.latencies()).advance();
        }
    },
    /** The service that the event tells of gets what it needs, and is told how to batch. */
    HEARD_SERVICE {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            step.heard().ifPresent(service -> {
                new Inference(step, scheduler.policy(), scheduler.settings()).serve(service);
                new BatchChanges(step, scheduler.settings()).adjust(List.of(service));
            });
        }
    },
    /** All services get what they need, and are told how to batch. */
    ALL_SERVICES {
        @Override
        void run(Scheduler scheduler, StepBuilder step) {
            new Inference(step, scheduler.policy(), scheduler.settings()).serve();
            new BatchChanges(step, scheduler.settings()).adjust(step.services().values());
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
