package io.lendstream.core.scheduler;

import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ActuatorDescription;
import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DemandForecast;
import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.Event;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeLeft;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.RequestRate;
import io.lendstream.core.event.SampleSummary;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.event.Tick;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.event.TrainingProgress;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.QueueId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.state.QueueState;
import io.lendstream.core.state.ServiceState;
import io.lendstream.core.state.TrainingCapacity;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Selects the phases that a step has to run after an event. All shortcuts of a step are here. A phase that is left out
 * would decide nothing, except for work that only the passing of time has created. Five kinds of such work may wait:
 *
 * <ul>
 *   <li>What services other than the event's own need, as forecasts get old and replicas may rest, what others give to
 *       them, and what queues may claim: until their next rate or the next tick.
 *   <li>How those services batch: until their next rate or the next tick.
 *   <li>Cuts of GPUs after a pause, or as leases get shorter: until the next tick, or the next event that changes an
 *       owner.
 *   <li>A plan of training that is due: until the tick at that time ({@link Scheduler#nextTimer}).
 *   <li>A plan that stays the same until later ({@code Plan.holdsUntil}), and holds with the cause why no plan is made:
 *       until that time, at most an hour.
 * </ul>
 *
 * <p>The next tick comes within an hour. Deadlines, leases and safety rules do not wait: the next event runs every one.
 */
class WorkDue {
    /** Runs the phases that the event can concern. */
    static final WorkDue BY_EVENT = new WorkDue();

    /**
     * Runs every phase at every event, and plans when a plan is due. It is slow: the shortcuts are tested against it.
     */
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
        boolean concernsQuotas(Situation it) {
            return true;
        }

        @Override
        boolean isAlone(Situation it) {
            return false;
        }
    };

    /** Phases that run while most nodes are silent: deadlines pass, and a hold gives the cause why no plan is made. */
    private static final Set<Phase> WHILE_NODES_ARE_SILENT =
            EnumSet.of(Phase.DEADLINES, Phase.LOST_GPUS, Phase.PLAN, Phase.NEXT_PLAN);

    /**
     * A step after its event, with what the selection of phases depends on.
     *
     * @param step with the event applied, and no decisions yet
     * @param isAllDue whether, since the event before, a deadline, a lease, a bound of silence or the time of a backlog
     *     has passed, or enough nodes report again, so that changes are allowed
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
            return scheduler.decidesFrom().filter(step.before().now()::isBefore).isPresent();
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
     * @param step with the event applied, and no decisions yet
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
        if (!concernsQuotas(it)) {
            due.remove(Phase.QUOTA);
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

    /**
     * Whether GPUs may be cut: the facts behind the plan of instances have changed, or a new plan is due. A service
     * that declares shapes leaves the plan, and one that does not any more leaves its GPUs to it.
     */
    boolean concernsCuts(Situation it) {
        return it.scheduler().settings().repartition()
                && (it.step().event().isTick()
                        || it.step().matters()
                        || isPlanDue(it)
                        || it.isAllDue()
                        || changesShapes(it)
                        || new SlicePlanning(
                                        it.step(),
                                        it.scheduler().policy(),
                                        it.scheduler().settings(),
                                        it.scheduler().latencies())
                                .isDue());
    }

    private static boolean changesShapes(Situation it) {
        return it.step()
                .event()
                .asService()
                .map(InferenceService::service)
                .filter(name -> hasShapes(it.step().before().services().get(name))
                        || hasShapes(it.step().services().get(name)))
                .isPresent();
    }

    private static boolean hasShapes(Optional<ServiceState> service) {
        return service.filter(known -> known.spec().hasGroups()).isPresent();
    }

    /**
     * Whether services have to be looked at. A report matters to them only if it frees a GPU of inference, or if a
     * service may still be short of GPUs. None is where GPUs of inference were free or on loan before the report: free
     * GPUs are given, and loans reclaimed, as soon as a service is short. This does not hold for several kinds of GPUs:
     * those to spare may have too little memory, or be of a kind that the service does not declare. Nor does it for
     * queues: a report may free the quota that a service waits for; nor where actuators restrict decisions: the last
     * release may free a whole node. Nor for services with shapes: free GPUs may be too far apart. Nor where replicas
     * of several units run: they may rest once those that replace them serve.
     */
    boolean concernsServices(Situation it) {
        boolean mayBeLeftOut = it.step().event().asReport().isPresent()
                && !isLook(it)
                && !learnsStarts(it)
                && it.step().entities().queues().isEmpty()
                && !it.step().entities().scopes().restricts()
                && !it.scheduler().settings().repartition()
                && !it.step().mode().isAdvisory()
                && it.step().slices().isEmpty()
                && !it.step().changesPlans()
                && !isPlanDue(it)
                && !it.isAllDue()
                && !it.step().entities().startsGroups()
                && it.step().clusterIndex().gpus().groups().isEmpty();
        return !mayBeLeftOut || doSomeWait(it);
    }

    /** Whether a queue may have a claim to GPUs that others have. The phase itself decides nothing at observations. */
    boolean concernsQuotas(Situation it) {
        return !it.step().entities().queues().isEmpty();
    }

    /** Whether an actuator says what it finds: something may be taken over, and services may have waited for that. */
    private static boolean isLook(Situation it) {
        return it.step()
                .event()
                .asReport()
                .filter(report -> report.outcome() == Outcome.FOUND)
                .isPresent();
    }

    private static boolean learnsStarts(Situation it) {
        return StartReports.changeNeed(it.step(), it.scheduler().settings());
    }

    private static boolean doSomeWait(Situation it) {
        boolean wereSomeToSpare = new InferencePool(it.step()).free().hasNext()
                || (it.scheduler().settings().lending() && hadLoans(it.step()));
        boolean areAlike = it.step().clusterIndex().trainingCapacity().kinds().size() < 2;
        return it.step().changes().hasFreed(Pool.INFERENCE, it.step().gpus()) || !wereSomeToSpare || !areAlike;
    }

    /** Whether whole GPUs, all of which can be reached, were on loan before this step. */
    static boolean hadLoans(StepBuilder step) {
        TrainingCapacity capacity = step.before().clusterIndex().trainingCapacity();
        return capacity.away().isEmpty() && !capacity.loans().isEmpty();
    }

    /**
     * Whether the event's service can be served without the others: no GPU is about to be free, no replica sleeps, no
     * queue is declared, no actuator restricts decisions, and nothing else has changed or is due.
     */
    boolean isAlone(Situation it) {
        return it.step().heard().isPresent()
                && !it.scheduler().settings().repartition()
                && it.step().slices().isEmpty()
                && it.step().entities().queues().isEmpty()
                && !it.step().entities().scopes().restricts()
                && !it.step().matters()
                && !it.isAllDue()
                && it.step().clusterIndex().gpus().sleeping().isEmpty()
                && !it.step().entities().startsGroups()
                && new InferencePool(it.step()).coming().isEmpty()
                && !isPlanDue(it);
    }

    /**
     * Whether an event may lead to decisions by its content: not where it changes nothing, or its service has what it
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
        public Boolean sampleSummary(SampleSummary summary) {
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
            return it.step().matters() || isLook(it) || learnsStarts(it);
        }

        @Override
        public Boolean command(ControlCommand command) {
            return true;
        }

        @Override
        public Boolean clusterQueue(ClusterQueue queue) {
            return true;
        }

        @Override
        public Boolean actuatorDescription(ActuatorDescription description) {
            return it.step().matters();
        }

        @Override
        public Boolean domainSettings(DomainSettings settings) {
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

        /**
         * Whether a service may want something other than it has. Those on slices and those that batch are always
         * looked at, and those of a queue that refuses replicas: a lower rate may end that. So may one that other
         * services with shapes wait for: it leaves units that are about to be free to them.
         */
        private boolean wants(ServiceId service) {
            if (it.step().slices().isPresent() || it.scheduler().settings().repartition() || isRefused(service)) {
                return true;
            }
            if (it.step().entities().startsGroups()
                    && !new InferencePool(it.step()).coming().isEmpty()) {
                return true;
            }
            return it.step()
                    .services()
                    .get(service)
                    .filter(known -> known.batches().isPresent() || !isContent(known))
                    .isPresent();
        }

        /** Whether the queue of a service refuses replicas. */
        private boolean isRefused(ServiceId service) {
            PersistentMap<QueueId, QueueState> queues = it.step().entities().queues();
            return !queues.isEmpty()
                    && it.step()
                            .services()
                            .get(service)
                            .flatMap(known -> known.spec().queue())
                            .flatMap(queues::get)
                            .filter(QueueState::refusesReplicas)
                            .isPresent();
        }

        private boolean isContent(ServiceState service) {
            return new Inference(
                            it.step(), it.scheduler().policy(), it.scheduler().settings())
                    .isContent(service);
        }
    }
}
