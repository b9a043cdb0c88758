package io.lendstream.actuator.driver;

import io.lendstream.actuator.adoption.AdoptedTenant;
import io.lendstream.actuator.adoption.AdoptionEnd;
import io.lendstream.actuator.jobs.CleanEnvironment;
import io.lendstream.actuator.jobs.ReplicaHost;
import io.lendstream.actuator.jobs.ReplicaListener;
import io.lendstream.actuator.jobs.ReplicaProgram;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.host.TenantName;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

/** Executes orders about services: each replica, on one GPU or several, is a process of this node. */
final class ServiceReplicas implements AutoCloseable {
    private final Programs programs;
    private final ClusterLookup surroundings;
    private final DriverListener driverListener;
    private final Executor later;
    private final Map<ServiceId, Order.Place> placed = new ConcurrentHashMap<>();
    private final ReplicaHost replicas;
    private final AdoptedReplicas adopted;

    /**
     * @param state directory for its state
     * @param adopted replicas that something else has started
     * @param later runs work for a replica's event, which must not run on the host's own thread
     */
    ServiceReplicas(
            Programs programs,
            Path state,
            CleanEnvironment environment,
            AdoptedReplicas adopted,
            ClusterLookup surroundings,
            DriverListener driverListener,
            Executor later) {
        this.programs = programs;
        this.surroundings = surroundings;
        this.driverListener = driverListener;
        this.later = later;
        this.adopted = adopted;
        this.replicas = ReplicaHost.open(state, environment, new Replicas());
    }

    void place(ServiceId id, Order.Place place) {
        placed.put(id, place);
        adopted.end(place.tenant(), place.leaving()).forEach(gpu -> replicas.stop(id, gpu, false));
        Set<GpuId> others = adopted.takeOver(place, replicas.running());
        List<List<GpuId>> own = place.together().stream()
                .filter(units -> units.stream().noneMatch(others::contains))
                .toList();
        try {
            ReplicaProgram program = own.isEmpty() ? null : program(id, place);
            for (List<GpuId> units : own) {
                List<Slot> slots = DeviceSlots.of(units, surroundings);
                replicas.start(
                        id,
                        Objects.requireNonNull(program),
                        slots,
                        surroundings.device(units.get(0)).map(Device::index).orElse(0));
            }
        } catch (Programs.ProgramException e) {
            driverListener.tell(e.failed(place));
        }
        settle(id);
    }

    private ReplicaProgram program(ServiceId id, Order.Place place) throws Programs.ProgramException {
        String tenant = TenantName.of(place.decision().domain(), place.tenant());
        return programs.service(id.value()).with(Map.of(TenantName.VARIABLE, tenant));
    }

    void force(ServiceId id, Order.Force force) {
        adopted.force(force).forEach(gpu -> replicas.stop(id, gpu, true));
    }

    /** The process of a replica has ended that something else has started. */
    void gone(AdoptedTenant replica, AdoptionEnd end) {
        driverListener.tell(
                new DriverEvent.Stopped(replica.tenant(), replica.units(), end.isForced(), DriverEvents.reasonOf(end))
                        .leavingOthers(end == AdoptionEnd.OTHERS_RUN_ON));
        replica.tenant().serviceId().ifPresent(this::settle);
    }

    /** A service's decision is in force when all its replicas are ready and all leaving replicas have ended. */
    private void settle(ServiceId id) {
        Order.Place place = placed.get(id);
        if (place == null) {
            return;
        }
        Set<GpuId> ready = new HashSet<>();
        Set<GpuId> there = new HashSet<>();
        List<ReplicaHost.Running> all = new ArrayList<>(replicas.running());
        all.addAll(adopted.running(new Tenant.Service(id)));
        for (ReplicaHost.Running each : all) {
            if (each.service().equals(id)) {
                there.addAll(each.gpus());
                if (each.ready()) {
                    ready.addAll(each.gpus());
                }
            }
        }
        if (ready.containsAll(place.units()) && place.leaving().stream().noneMatch(there::contains)) {
            driverListener.tell(new DriverEvent.InForce(place.tenant(), place.decision()));
        }
    }

    /** Closes its connections to replicas, which continue to run. */
    @Override
    public void close() {
        replicas.close();
    }

    private final class Replicas implements ReplicaListener {
        @Override
        public void ready(ServiceId service, List<GpuId> gpus) {
            driverListener.tell(new DriverEvent.Started(new Tenant.Service(service), gpus));
            later.execute(() -> settle(service));
        }

        @Override
        public void gone(
                ServiceId service,
                List<GpuId> gpus,
                boolean forced,
                int code,
                List<String> lastLines,
                boolean ofProgram) {
            String end = code == 0 || forced || lastLines.isEmpty() ? "" : lastLines.get(lastLines.size() - 1);
            driverListener.tell(
                    new DriverEvent.Stopped(new Tenant.Service(service), gpus, forced, end).ofProgram(ofProgram));
            later.execute(() -> settle(service));
        }
    }
}
