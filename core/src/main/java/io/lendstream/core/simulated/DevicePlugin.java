package io.lendstream.core.simulated;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.actuation.NameExchange;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.GpuTelemetry;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.SlotClass;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Picks the unit on which a tenant starts, as the device plugin of a kubelet does: any free one of the node, kind and
 * profile that was asked for. Agents would show each tenant as a user of the picked unit.
 */
public final class DevicePlugin {
    private final Random random;
    private final boolean tells;
    private final Map<GpuId, SlotClass> classes = new HashMap<>();
    /** The units that may be taken for each other. */
    private final Map<SlotClass, NavigableSet<GpuId>> alike = new HashMap<>();
    /** What runs, by the unit on which it really does. */
    private final NavigableMap<GpuId, Pod> pods = new TreeMap<>();

    private final List<NameExchange> exchanges = new ArrayList<>();
    private int started;

    /** @param name the unit by which the actuator names it */
    private record Pod(Tenant tenant, GpuId name, String user) {}

    /** @param tells whether it tells the actuator which unit it has picked; if not, only agents show that */
    public DevicePlugin(Random random, boolean tells) {
        this.random = random;
        this.tells = tells;
    }

    /** Learns which units a node has, in place of those that it had. */
    public void know(Node node) {
        classes.values().removeIf(like -> like.node().equals(node.nodeId()));
        alike.keySet().removeIf(like -> like.node().equals(node.nodeId()));
        for (Gpu gpu : node.gpus()) {
            if (gpu.migEnabled()) {
                gpu.instances()
                        .forEach(instance -> know(instance.gpuId(), like(node, gpu, Optional.of(instance.profile()))));
            } else {
                know(gpu.gpuId(), like(node, gpu, Optional.empty()));
            }
        }
    }

    private void know(GpuId unit, SlotClass like) {
        classes.put(unit, like);
        alike.computeIfAbsent(like, any -> new TreeSet<>()).add(unit);
    }

    private static SlotClass like(Node node, Gpu gpu, Optional<String> profile) {
        return new SlotClass(node.nodeId(), Optional.of(GpuKinds.PLAIN.of(gpu)), node.pool(), profile);
    }

    /** The units of the same class as a named one, by name. */
    private NavigableSet<GpuId> alike(GpuId name) {
        return Optional.ofNullable(classes.get(name)).map(alike::get).orElse(Collections.emptyNavigableSet());
    }

    /** The tenants of units, as they really are. */
    public NavigableMap<GpuId, Tenant> tenants() {
        NavigableMap<GpuId, Tenant> tenants = new TreeMap<>();
        pods.forEach((unit, pod) -> tenants.put(unit, pod.tenant()));
        return tenants;
    }

    /** A sample of a node with the users of its units, as an agent would show them. */
    public GpuTelemetry shown(GpuTelemetry sample) {
        return new GpuTelemetry(
                sample.nodeId(),
                sample.domain(),
                sample.bootId(),
                sample.sequence(),
                sample.at(),
                sample.gpus().stream()
                        .map(gpu -> gpu.withUsers(users(gpu.gpuId())))
                        .toList());
    }

    private List<String> users(GpuId unit) {
        return Optional.ofNullable(pods.get(unit)).map(Pod::user).map(List::of).orElse(List.of());
    }

    /** The exchanges of names since the last call, in their order. */
    public List<NameExchange> takeExchanges() {
        List<NameExchange> taken = List.copyOf(exchanges);
        exchanges.clear();
        return taken;
    }

    /** An event of a driver, with what is known about the units. */
    DriverEvent placed(DriverEvent event) {
        List<UnitPlacement> placements = new ArrayList<>();
        if (event instanceof DriverEvent.Started begun) {
            begun.units().forEach(name -> placements.add(start(begun.tenant(), name)));
            return new DriverEvent.Started(begun.tenant(), begun.units(), placements);
        }
        if (event instanceof DriverEvent.Stopped stopped) {
            stopped.units().forEach(name -> stop(stopped.tenant(), name).ifPresent(placements::add));
            return new DriverEvent.Stopped(
                    stopped.tenant(), stopped.units(), stopped.forced(), stopped.reason(), placements);
        }
        return event;
    }

    private UnitPlacement start(Tenant tenant, GpuId name) {
        List<GpuId> free = new ArrayList<>();
        for (GpuId unit : alike(name)) {
            if (!pods.containsKey(unit)) {
                free.add(unit);
            }
        }
        if (free.isEmpty()) {
            return UnitPlacement.unknown(name, Optional.empty());
        }
        GpuId unit = free.get(random.nextInt(free.size()));
        started++;
        Pod pod = new Pod(tenant, name, "kubernetes/default/%s-%d/main".formatted(nameOf(tenant), started));
        pods.put(unit, pod);
        return told(unit, pod);
    }

    private static String nameOf(Tenant tenant) {
        return tenant.match(Tenant.Cases.of(
                job -> job.job().value(), service -> service.service().value()));
    }

    private UnitPlacement told(GpuId unit, Pod pod) {
        return tells
                ? UnitPlacement.on(unit, pod.name(), Optional.of(pod.user()))
                : UnitPlacement.unknown(pod.name(), Optional.of(pod.user()));
    }

    private Optional<UnitPlacement> stop(Tenant tenant, GpuId name) {
        for (GpuId unit : alike(name)) {
            Pod pod = pods.get(unit);
            if (pod != null && pod.tenant().equals(tenant) && pod.name().equals(name)) {
                pods.remove(unit);
                return Optional.of(told(unit, pod));
            }
        }
        return Optional.empty();
    }

    /** Two units have each other's names from now on. */
    void exchange(NameExchange names) {
        exchanges.add(names);
        for (GpuId unit : alike(names.one())) {
            pods.computeIfPresent(
                    unit, (any, pod) -> new Pod(pod.tenant(), names.renamed(pod.tenant(), pod.name()), pod.user()));
        }
    }

    /** Units are gone with all that ran on them. */
    void lose(Collection<GpuId> units) {
        units.forEach(pods::remove);
    }
}
