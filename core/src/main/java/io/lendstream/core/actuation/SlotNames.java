package io.lendstream.core.actuation;

import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.ReplicaId;
import io.lendstream.core.decision.ReplicaUnits;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The units by which a decision names a tenant: as the scheduler sees it before the change.
 *
 * @param held units that the tenant has, those that it keeps before those that it leaves
 * @param gained units that are free, and that the tenant is to get
 * @param filled units that the tenant has, or is to get: a loan may come with GPUs of training that it does not name
 */
record SlotNames(Tenant tenant, List<GpuId> held, List<GpuId> gained, List<GpuId> filled) {
    SlotNames {
        held = List.copyOf(held);
        gained = List.copyOf(gained);
        filled = List.copyOf(filled);
    }

    /** The names of units of which it is known whether the tenant has them. */
    SlotNames(Tenant tenant, List<GpuId> held, List<GpuId> gained) {
        this(tenant, held, gained, List.of());
    }

    /** The names in a decision, for each tenant that it is about. */
    static List<SlotNames> of(Action action) {
        return action.match(new OfAction());
    }

    /** The replicas of several units that a decision wakes or stops, by each of their units. */
    static Map<GpuId, ReplicaId> parts(Action action) {
        List<ReplicaUnits> replicas = action.asServe()
                .map(Action.Serve::replicas)
                .or(() -> action.asIdle().map(Action.Idle::replicas))
                .orElse(List.of());
        Map<GpuId, ReplicaId> parts = new HashMap<>();
        replicas.forEach(replica -> replica.units().forEach(unit -> parts.put(unit, replica.replica())));
        return parts;
    }

    private static final class OfAction implements Action.Cases<List<SlotNames>> {
        @Override
        public List<SlotNames> lend(Action.Lend lend) {
            SlotNames names = changed(lend.job(), lend.gpus(), lend.allocation());
            return List.of(new SlotNames(names.tenant(), names.held(), names.gained(), names.held()));
        }

        @Override
        public List<SlotNames> resize(Action.Resize resize) {
            return List.of(changed(resize.job(), resize.gpus(), resize.allocation()));
        }

        @Override
        public List<SlotNames> reclaim(Action.Reclaim reclaim) {
            Set<GpuId> held = new LinkedHashSet<>(reclaim.allocation().gpus());
            held.addAll(reclaim.gpus());
            return List.of(of(new Tenant.Job(reclaim.job()), held, List.of()));
        }

        @Override
        public List<SlotNames> serve(Action.Serve serve) {
            return serve.warm()
                    ? replicas(serve.service(), serve.gpus(), List.of())
                    : replicas(serve.service(), List.of(), serve.gpus());
        }

        @Override
        public List<SlotNames> idle(Action.Idle idle) {
            return replicas(idle.service(), idle.gpus(), List.of());
        }

        @Override
        public List<SlotNames> batching(Action.Batching batching) {
            return replicas(batching.service(), batching.gpus(), List.of());
        }

        @Override
        public List<SlotNames> repartition(Action.Repartition repartition) {
            return List.of();
        }

        @Override
        public List<SlotNames> renew(Action.Renew renew) {
            if (renew.jobs().size() != renew.gpus().size()) {
                return List.of();
            }
            SortedMap<JobId, TreeSet<GpuId>> byJob = new TreeMap<>();
            for (int i = 0; i < renew.gpus().size(); i++) {
                byJob.computeIfAbsent(renew.jobs().get(i), any -> new TreeSet<>())
                        .add(renew.gpus().get(i));
            }
            return byJob.entrySet().stream()
                    .map(loans ->
                            new SlotNames(new Tenant.Job(loans.getKey()), List.copyOf(loans.getValue()), List.of()))
                    .toList();
        }

        @Override
        public List<SlotNames> hold(Action.Hold hold) {
            return List.of();
        }

        /** What is adopted is on the units that it was found on. */
        @Override
        public List<SlotNames> adopt(Action.Adopt adopt) {
            return List.of();
        }

        /** Named units of the allocation are gained; the others are held, or given up. */
        private static SlotNames changed(JobId job, List<GpuId> named, Allocation allocation) {
            Set<GpuId> held = new LinkedHashSet<>(allocation.gpus());
            Set<GpuId> gained = new TreeSet<>(named);
            gained.retainAll(held);
            held.addAll(named);
            held.removeAll(gained);
            return of(new Tenant.Job(job), held, gained);
        }

        private static List<SlotNames> replicas(ServiceId service, List<GpuId> held, List<GpuId> gained) {
            return List.of(of(new Tenant.Service(service), held, gained));
        }

        private static SlotNames of(Tenant tenant, Collection<GpuId> held, Collection<GpuId> gained) {
            return new SlotNames(tenant, List.copyOf(held), List.copyOf(gained));
        }
    }
}
