package io.lendstream.core.scheduler;

import io.lendstream.core.demand.Outlook;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.id.KindId;
import io.lendstream.core.persistent.PersistentMap;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ServiceState;
import java.time.Duration;

/** The needs in a step of services whose replicas have one unit each. */
record SingleNeeds(StepBuilder builder, Policy policy, SchedulerSettings settings) {
    /** The need of a service whose replicas answer the same, whatever their kind. */
    ReplicaNeed alike(ServiceState service) {
        return ReplicaNeed.of(service, builder.now(), lead(service), policy.outlook());
    }

    /** Time from a decision to a replica that answers, of a service whose replicas are alike. */
    Duration lead(ServiceState service) {
        InferenceService timed = settings.timed(service);
        return new StartLead(settings).ofSingle(builder, timed, timed.warmUp());
    }

    /** The need of a service whose replicas answer more or less by kind. */
    KindNeed byKind(ServiceState service) {
        Duration lead = leadByKind(service);
        Outlook outlook = policy.outlook();
        return new KindNeed(
                service.spec(), kinds()::contains, mix -> ReplicaNeed.of(service, builder.now(), lead, outlook, mix));
    }

    /** Time from a decision to a replica that answers, on the kind where it starts slowest. */
    Duration leadByKind(ServiceState service) {
        InferenceService timed = settings.timed(service);
        return new StartLead(settings).ofSingle(builder, timed, KindNeed.warmUp(timed, kinds()::contains));
    }

    /**
     * The same beside planned MIG instances.
     *
     * @param answered requests per second that the planned instances answer
     * @param expected requests per second to be ready for
     */
    KindNeed byKindBeside(ServiceState service, double answered, double expected) {
        return new KindNeed(
                service.spec(), kinds()::contains, mix -> ReplicaNeed.beside(service, answered, expected, mix));
    }

    /** The same for a load of so many requests per second, and nothing else. */
    KindNeed byKindFor(ServiceState service, double perSecond) {
        return new KindNeed(
                service.spec(), kinds()::contains, mix -> new ReplicaNeed(mix.replicasFor(perSecond), 0, 0));
    }

    private PersistentMap<KindId, Integer> kinds() {
        return builder.clusterIndex().trainingCapacity().kinds();
    }
}
