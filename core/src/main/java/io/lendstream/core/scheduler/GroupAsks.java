package io.lendstream.core.scheduler;

import io.lendstream.core.event.ClusterQueue;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.QueueLedger;
import io.lendstream.core.state.ServiceState;
import java.util.Optional;

/**
 * Gives services with shapes that lack replicas the nominal quota of their queue, from services of queues that have
 * more than theirs: whole replicas by {@link GivenGroups}, from those that {@link QuotaGivers} give.
 */
final class GroupAsks {
    private final StepBuilder builder;
    private final SchedulerSettings settings;
    private final GivenGroups groups;
    /** The use of quotas once what is decided and promised is done; empty until it is needed. */
    private Optional<QueueLedger> kept = Optional.empty();

    GroupAsks(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.settings = settings;
        this.groups = new GivenGroups(builder, policy, settings);
    }

    /** Whether a service with shapes lacks replicas that no units are promised for. */
    boolean isShort(ServiceState service) {
        return groups.mayAsk(service) && groups.lack(service, Fill.ALL).isAny();
    }

    /**
     * Frees units for the services that lack replicas.
     *
     * @param others how many of the units that are about to be free are for other services
     */
    void run(int others) {
        if (!builder.entities().startsGroups()) {
            return;
        }
        for (ServiceState service : builder.services().values()) {
            Optional<ClusterQueue> queue =
                    builder.entities().queueOf(new Tenant.Service(service.spec().service()));
            if (groups.mayAsk(service) && queue.isPresent()) {
                ask(service, queue.get(), others);
            }
        }
    }

    private void ask(ServiceState service, ClusterQueue queue, int others) {
        GivenGroups.Lack lack = groups.lack(service, Fill.ALL);
        if (!lack.isAny()) {
            return;
        }
        QueueLedger ledger = kept.orElseGet(() -> new QuotaGuard(builder).kept());
        kept = Optional.of(ledger);
        QuotaGivers givers = new QuotaGivers(builder, settings, service, queue, ledger);
        if (groups.give(service, lack, givers, others)) {
            kept = Optional.empty();
        }
    }
}
