package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.ServiceState;
import java.util.EnumSet;
import java.util.Set;

/**
 * Which phases of a step an event can concern. All shortcuts of a step are here. A phase that is left out would decide nothing, but
 * for work that only the passing of time has made, and that waits:
 *
 * <ul>
 *   <li>What services need of which the event does not tell: for their own next rate, or the next tick. Forecasts age, and a replica
 *       that was needed for a short time may rest later.
 *   <li>How such services batch: for the same.
 *   <li>Cuts of GPUs after a pause, or as leases get shorter: for the next tick, or event that changes an owner.
 *   <li>A plan of training whose time has come: for the tick at that time ({@link Scheduler#nextTimer}).
 *   <li>A plan of which the policy said that it would be the same until later ({@code Plan.holdsUntil}), and the holds that say why no
 *       plan is made: for that time, an hour at most.
 * </ul>
 *
 * <p>The next tick is never later than the next plan, and so than an hour. Deadlines, leases, floors and safety rules do not wait:
 * the first event after their time sees to them.
 */
class WorkDue {
    /** Only what the event can concern. */
    static final WorkDue BY_EVENT = new WorkDue();

    /** Everything at every event, and a plan at its time: slow, and what the shortcuts are tested against. */
    static final WorkDue ALWAYS = new WorkDue() {
        @Override
        boolean mayDecide(Situation it) {
            return true;
        }

        @Override
        boolean concernsCuts(Situation it) {
            return true;
        }

        @Override
        boolean concernsServices(Situation it) {
            return true;
        }

        @Override
        boolean isAlone(Situation it) {
            return false;
        }
    };

    /** What may change while most nodes are silent: what is over is over, and plans say why they are not made. */
    private static final Set<Phase> WHILE_NODES_ARE_SILENT =
            EnumSet.of(Phase.DEADLINES, Phase.LOST_GPUS, Phase.PLAN, Phase.NEXT_PLAN);

    /**
     * What an event has left behind, as far as phases hang on it.
     *
     * @param step with the event applied, and nothing decided yet
     * @param isAllDue whether, since the event before, a deadline, a lease, a bound of silence or the time of a backlog has passed, or
     *     so many nodes are heard of again that changes are allowed
     */
    record Situation(Scheduler scheduler, StepBuilder step, boolean isAllDue) {
        static Situation of(Scheduler scheduler, StepBuilder step) {
            return new Situation(
                    scheduler,
                    step,
                    hasBacklogEnded(scheduler, step)
                            || isSomethingOver(scheduler, step)
                            || areNodesHeardAgain(new Safety(scheduler.settings()), step));
        }

        private static boolean hasBacklogEnded(Scheduler scheduler, StepBuilder step) {
            return scheduler.decidesFrom().filter(step.previously()::isBefore).isPresent();
        }

        private static boolean isSomethingOver(Scheduler scheduler, StepBuilder step) {
            return Deadlines.nextOfOwners(step.before(), scheduler.settings())
                    .filter(at -> !at.isAfter(step.now()))
                    .isPresent();
        }

        private static boolean areNodesHeardAgain(Safety safety, StepBuilder step) {
            return safety.tooManyNodesStale(step.before().clusterIndex(), step.now())
                    && !safety.tooManyNodesStale(step);
        }
    }

    /**
     * The phases that are due after the state has followed an event.
     *
     * @param step with the event applied, and nothing decided yet
     */
    final Set<Phase> after(Scheduler scheduler, StepBuilder step) {
        Situation it = Situation.of(scheduler, step);
        if (!mayDecide(it)) {
            return Set.of();
        }
        EnumSet<Phase> due = EnumSet.allOf(Phase.class);
        if (new Safety(scheduler.settings()).tooManyNodesStale(step)) {
            due.retainAll(WHILE_NODES_ARE_SILENT);
        }
        if (!isPlanDue(it)) {
            due.remove(Phase.PLAN);
        }
        if (!concernsCuts(it)) {
            due.remove(Phase.CUTS);
        }
        if (!concernsServices(it)) {
            due.remove(Phase.HEARD_SERVICE);
            due.remove(Phase.ALL_SERVICES);
        } else {
            due.remove(isAlone(it) ? Phase.ALL_SERVICES : Phase.HEARD_SERVICE);
        }
        return due;
    }

    /** Whether an event can lead to decisions. */
    boolean mayDecide(Situation it) {
        return it.isAllDue() || it.step().event().match(new Concern(it));
    }

    /** Whether it is time for a plan of training. */
    boolean isPlanDue(Situation it) {
        return it.step().nextPlanAt().filter(it.step().now()::isBefore).isEmpty();
    }

    /** Whether GPUs may be cut: what the way to the plan of instances rests on has changed, or the plan is to be made anew. */
    boolean concernsCuts(Situation it) {
        return it.scheduler().settings().repartition()
                && (it.step().isTick()
                        || it.step().matters()
                        || isPlanDue(it)
                        || it.isAllDue()
                        || new SlicePlanning(
                                        it.step(),
                                        it.scheduler().policy(),
                                        it.scheduler().settings(),
                                        it.scheduler().latencies())
                                .isDue());
    }

    /**
     * Whether a service may wait for what an event has brought. A report brings something only where it frees a GPU of inference: to a
     * service that lacks GPUs is given what is free, and what was lent is taken back for it; so where some were free before, or on
     * loan, all that anybody lacks is on its way already.
     */
    boolean concernsServices(Situation it) {
        boolean mayBeLeftOut = it.step().isReport()
                && !it.scheduler().settings().repartition()
                && !it.step().mode().advisory()
                && it.step().slices().isEmpty()
                && !it.step().changesPlans()
                && !isPlanDue(it)
                && !it.isAllDue();
        return !mayBeLeftOut || doSomeWait(it);
    }

    private static boolean doSomeWait(Situation it) {
        boolean wereSomeToSpare = new InferencePool(it.step()).free().hasNext()
                || (it.scheduler().settings().lending() && it.step().hadLoans());
        return it.step().hasFreed(Pool.INFERENCE) || !wereSomeToSpare;
    }

    /**
     * Whether the service that an event tells of can be served without a look at the others: nothing is on its way that another waits
     * for, nobody has a sleeping replica to spare, and nothing else has happened or is due.
     */
    boolean isAlone(Situation it) {
        return it.step().heard().isPresent()
                && !it.scheduler().settings().repartition()
                && it.step().slices().isEmpty()
                && !it.step().matters()
                && !it.isAllDue()
                && it.step().clusterIndex().sleeping().isEmpty()
                && new InferencePool(it.step()).coming() == 0
                && !isPlanDue(it);
    }

    /**
     * Whether an event concerns anybody: what says that all is as it was does not, and neither does a rate of a service that has what it
     * needs.
     */
    private static final class Concern implements Event.Cases<Boolean> {
        private final Situation it;

        Concern(Situation it) {
            this.it = it;
        }

        @Override
        public Boolean node(Node node) {
            return true;
        }

        @Override
        public Boolean nodeLeft(NodeLeft left) {
            return true;
        }

        @Override
        public Boolean telemetry(GpuTelemetry telemetry) {
            return it.step().matters();
        }

        @Override
        public Boolean service(InferenceService service) {
            return true;
        }

        @Override
        public Boolean rate(RequestRate rate) {
            return wants(rate.service());
        }

        @Override
        public Boolean job(TrainingJob job) {
            return true;
        }

        @Override
        public Boolean progress(TrainingProgress progress) {
            return it.step().matters();
        }

        @Override
        public Boolean forecast(DemandForecast forecast) {
            return it.scheduler().policy().info().looksAhead() && wants(forecast.service());
        }

        @Override
        public Boolean report(ActuationReport report) {
            return it.step().matters();
        }

        @Override
        public Boolean command(ControlCommand command) {
            return true;
        }

        @Override
        public Boolean started(SchedulerStarted started) {
            return true;
        }

        @Override
        public Boolean tick(Tick tick) {
            return true;
        }

        /** Whether a service may want something other than it has. Those on slices and those that batch are always looked at. */
        private boolean wants(ServiceId service) {
            if (it.step().slices().isPresent() || it.scheduler().settings().repartition()) {
                return true;
            }
            return it.step()
                    .services()
                    .get(service)
                    .filter(known -> known.batches().isPresent() || !isContent(known))
                    .isPresent();
        }

        private boolean isContent(ServiceState service) {
            return new Inference(
                            it.step(), it.scheduler().policy(), it.scheduler().settings())
                    .isContent(service);
        }
    }
}
