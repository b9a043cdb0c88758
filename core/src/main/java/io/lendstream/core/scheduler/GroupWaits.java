package io.lendstream.core.scheduler;

import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ServiceState;

/**
 * Requests that wait for replicas of several GPUs come before expected requests of other services: where nothing else
 * is left, replicas of others that their present load does not need are stopped, as many as make up whole replicas.
 * {@link WaitingFirst} does the same for services of single GPUs.
 */
final class GroupWaits {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final PresentNeeds needs;
    private final GivenGroups groups;

    GroupWaits(StepBuilder builder, Policy policy, SchedulerSettings settings, PresentNeeds needs) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.needs = needs;
        this.groups = new GivenGroups(builder, policy, settings);
    }

    /**
     * Frees units for services that lack replicas for the requests there are. After a rate or a forecast only for its
     * service.
     *
     * @param others how many of the units that are about to be free are for other services
     */
    void run(int others) {
        if (builder.heard().isPresent()) {
            ask(builder.heard().get(), others);
        } else {
            builder.services().values().forEach(service -> ask(service, others));
        }
    }

    private void ask(ServiceState service, int others) {
        if (!groups.mayAsk(service)) {
            return;
        }
        GivenGroups.Lack lack = groups.lack(service, Fill.PRESENT);
        if (lack.isAny()) {
            SpareGivers givers = new SpareGivers(builder, policy, settings, needs, service, new GiverQuotas(builder));
            groups.give(service, lack, givers, others);
        }
    }
}
