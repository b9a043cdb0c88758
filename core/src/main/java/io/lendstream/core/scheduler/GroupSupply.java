package io.lendstream.core.scheduler;

import io.lendstream.core.decision.Wording;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.ClusterView;
import io.lendstream.core.policy.Policy;
import io.lendstream.core.state.ActuatorScopes;
import io.lendstream.core.state.GpuState;
import io.lendstream.core.state.Owner;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Finds units for the replicas that services with shapes lack: sets of free units first, then sets with units that are
 * about to be free, with those of sleeping replicas, and with loans. Units that a replica waits for are promised to its
 * service, so that no other tenant takes some of them meanwhile.
 */
final class GroupSupply {
    private final StepBuilder builder;
    private final Policy policy;
    private final SchedulerSettings settings;
    private final InferencePool pool;
    private final QuotaGuard quotas;
    private final AbilityGuard abilities;
    private final ActuatorScopes scopes;
    private final Set<GpuId> taken = new HashSet<>();
    private final Map<ServiceId, Set<GpuId>> promised = new HashMap<>();

    GroupSupply(StepBuilder builder, Policy policy, SchedulerSettings settings) {
        this.builder = builder;
        this.policy = policy;
        this.settings = settings;
        this.pool = new InferencePool(builder);
        this.quotas = new QuotaGuard(builder);
        this.abilities = new AbilityGuard(builder);
        this.scopes = builder.entities().scopes();
    }

    /** The units that this step has promised to a service. */
    Set<GpuId> promised(ServiceId service) {
        return promised.getOrDefault(service, Set.of());
    }

    /**
     * Starts missing replicas on free units, and frees units for the others.
     *
     * @param need counts each replica that units are found for
     * @param most the most replicas to find units for
     */
    void supply(ServiceState service, GroupNeed need, int most) {
        ReplicaNeed before = need.inCounted();
        UnitSearch search = search(service);
        List<UnitSet> starts = new ArrayList<>();
        List<UnitSet> waits = new ArrayList<>();
        boolean withLoans = false;
        for (int left = most; left > 0 && need.missing() > 0; left--) {
            Optional<UnitSet> set = find(service, search, UnitSearch.Source.SLEEPING, waits);
            if (set.isEmpty() && !withLoans) {
                withLoans = true;
                addLoans(service, search);
            }
            set = set.or(() -> find(service, search, UnitSearch.Source.LOAN, waits));
            if (set.isEmpty()) {
                break;
            }
            search.take(set.get());
            taken.addAll(set.get().gpus());
            need.count(set.get());
            if (set.get().isFree()) {
                set.get().units().forEach(unit -> quotas.promise(service.spec().service(), unit));
                starts.add(set.get());
            } else {
                waits.add(set.get());
            }
        }
        if (!starts.isEmpty()) {
            start(service, before, starts);
        }
        if (!waits.isEmpty()) {
            free(service, need.inCounted(), waits);
        }
    }

    /** The cheapest units by what has to happen before: what is cheaper in another shape comes first. */
    private Optional<UnitSet> find(
            ServiceState service, UnitSearch search, UnitSearch.Source most, List<UnitSet> waits) {
        for (UnitSearch.Source source : UnitSearch.Source.values()) {
            for (ReplicaShape shape : service.spec().hardware().planned()) {
                Optional<UnitSet> set = source.compareTo(most) > 0
                        ? Optional.empty()
                        : search.find(shape, source, unit -> isOnNodeFor(shape, unit));
                if (set.filter(found -> isWithinQuota(service, found, waits)).isPresent()) {
                    return set;
                }
            }
        }
        return Optional.empty();
    }

    private boolean isOnNodeFor(ReplicaShape shape, GpuState unit) {
        return shape.nodes() == 1 || scopes.abilities(unit.nodeId()).spansNodes();
    }

    private boolean isWithinQuota(ServiceState service, UnitSet set, List<UnitSet> waits) {
        ServiceId name = service.spec().service();
        if (set.isFree()) {
            return quotas.against(new Tenant.Service(name), set.gpus()).isEmpty();
        }
        List<GpuId> found = new ArrayList<>();
        waits.forEach(wait -> found.addAll(wait.gpus()));
        for (GpuState unit : set.units()) {
            if (!quotas.couldTake(name, unit, found)) {
                return false;
            }
            found.add(unit.gpuId());
        }
        return true;
    }

    private UnitSearch search(ServiceState service) {
        UnitSearch search = new UnitSearch(
                settings.model().topology(), node -> builder.nodes().get(node));
        for (Iterator<GpuState> free = pool.free(); free.hasNext(); ) {
            add(service, search, free.next(), UnitSearch.Source.FREE);
        }
        for (GpuState unit : pool.coming(id -> false)) {
            add(service, search, unit, UnitSearch.Source.COMING);
        }
        for (GpuState unit : builder.clusterIndex().gpus().sleeping().values()) {
            boolean isOwnGroup = unit.part().isPresent()
                    && unit.isHeldBy(new Tenant.Service(service.spec().service()));
            if (!isOwnGroup) {
                add(service, search, unit, UnitSearch.Source.SLEEPING);
            }
        }
        return search;
    }

    private void add(ServiceState service, UnitSearch search, GpuState unit, UnitSearch.Source source) {
        if (suits(service, unit)) {
            search.add(unit, source);
        }
    }

    /** Adds the loans, those first whose loss hurts training least. */
    private void addLoans(ServiceState service, UnitSearch search) {
        int loans = builder.clusterIndex().gpus().loans().size();
        if (loans == 0) {
            return;
        }
        ClusterView view = new TrainingView(builder, settings).view().ofGpus(unit -> suits(service, unit));
        long place = 0;
        for (GpuId loan : policy.victims(view, loans)) {
            place++;
            GpuState unit = builder.gpu(loan);
            if (unit.owner().isLent() && suits(service, unit)) {
                search.add(unit, UnitSearch.Source.LOAN, place);
            }
        }
    }

    /** Whether a replica of a service could use a unit once its present tenant has released it. */
    private boolean suits(ServiceState service, GpuState unit) {
        return unit.isWhole()
                && unit.pool() == Pool.INFERENCE
                && builder.isReachable(unit)
                && scopes.only(unit.nodeId()).isPresent()
                && abilities.isUsable(unit)
                && !taken.contains(unit.gpuId())
                && !builder.promises().keepsFrom(new Tenant.Service(service.spec().service()), unit.gpuId())
                && service.spec().uses(unit.kind());
    }

    private void start(ServiceState service, ReplicaNeed need, List<UnitSet> sets) {
        String what = "starts " + GroupReasons.shapes(sets);
        new GroupChanges(builder, settings)
                .start(service, sets, GroupReasons.of(builder, policy, service, need, what, Map.of()));
    }

    /** Frees the units that replicas wait for, and promises them to the service. */
    private void free(ServiceState service, ReplicaNeed need, List<UnitSet> sets) {
        ServiceId name = service.spec().service();
        Map<ServiceId, List<GpuId>> sleeping = new TreeMap<>();
        List<GpuId> loans = new ArrayList<>();
        Set<GpuId> units = promised.computeIfAbsent(name, any -> new TreeSet<>());
        for (UnitSet set : sets) {
            for (GpuId id : set.gpus()) {
                Owner owner = builder.gpu(id).owner();
                units.add(id);
                if (owner.isSleeping()) {
                    sleeping.computeIfAbsent(owner.replicaOf().orElseThrow(), any -> new ArrayList<>())
                            .add(id);
                } else if (owner.isLent()) {
                    loans.add(id);
                }
            }
        }
        String shortage = GroupReasons.shortage(builder, service, need, " (", ")");
        sleeping.forEach((other, gpus) -> stopSleeping(service, need, other, gpus, shortage));
        if (!loans.isEmpty()) {
            takeBack(service, need, loans, shortage);
        }
        Tenant tenant = new Tenant.Service(name);
        // The units are out of service by then if their release was not reported.
        Instant until =
                builder.now().plus(settings.notice().multipliedBy(2)).plus(ReplicaChanges.DRAIN);
        units.forEach(unit -> builder.promises().add(unit, tenant, until));
    }

    private void stopSleeping(
            ServiceState service, ReplicaNeed need, ServiceId other, List<GpuId> gpus, String shortage) {
        String text = "%s %s%s, which %s"
                .formatted(other, Wording.idles(gpus.size()), service.spec().service(), shortage);
        Map<String, Double> numbers = Map.of("idled", (double) gpus.size());
        new ReplicaChanges(builder, settings)
                .stop(other, gpus, GroupReasons.because(builder, policy, service, need, text, numbers));
    }

    private void takeBack(ServiceState service, ReplicaNeed need, List<GpuId> loans, String shortage) {
        String cause = ": %s %s; policy %s loses least by the loans of these nodes"
                .formatted(service.spec().service(), shortage, policy.info().name());
        new JobChanges(builder, settings)
                .takeBack(
                        loans,
                        back -> GroupReasons.because(
                                builder,
                                policy,
                                service,
                                need,
                                back.inWords() + cause,
                                back.numbers(Map.of())));
    }
}
