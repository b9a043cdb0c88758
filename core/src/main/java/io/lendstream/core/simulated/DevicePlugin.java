package io.lendstream.core.simulated;

import io.lendstream.core.actuation.DriverEvent;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.GpuInstance;
import io.lendstream.core.event.GpuKinds;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.UnitPlacement;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.SlotClass;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * Picks the unit on which a tenant starts, as the device plugin of a kubelet does: any free one of the node, kind and
 * profile that was asked for. Agents would show each tenant as a user of the picked unit.
 */
public final class DevicePlugin {
    private final Random random;
    private final boolean tells;
    /** The units that may be taken for each other, by each of them. */
    private final Map<GpuId, SlotClass> classes = new TreeMap<>();
    /** What runs, by the unit on which it really does. */
    private final NavigableMap<GpuId, Pod> pods = new TreeMap<>();

    private int started;

    /** @param name the unit by which the actuator names it */
    private record Pod(Tenant tenant, GpuId name, String user) {}

    /** @param tells whether it tells the actuator which unit it has picked; if not, only agents show that */
    public DevicePlugin(Random random, boolean tells) {
        this.random = random;
        this.tells = tells;
    }

    /** Learns which units there are. */
    public void know(Node node) {
        for (Gpu gpu : node.gpus()) {
            classes.put(gpu.gpuId(), like(node, gpu, Optional.empty()));
            for (GpuInstance instance : gpu.instances()) {
                classes.put(instance.gpuId(), like(node, gpu, Optional.of(instance.profile())));
            }
        }
    }

    private static SlotClass like(Node node, Gpu gpu, Optional<String> profile) {
        return new SlotClass(node.nodeId(), Optional.of(GpuKinds.PLAIN.of(gpu)), node.pool(), profile);
    }

    /** The users of units, as agents show them. */
    public NavigableMap<GpuId, String> users() {
        NavigableMap<GpuId, String> users = new TreeMap<>();
        pods.forEach((unit, pod) -> users.put(unit, pod.user()));
        return users;
    }

    /** The tenants of units, as they really are. */
    public NavigableMap<GpuId, Tenant> tenants() {
        NavigableMap<GpuId, Tenant> tenants = new TreeMap<>();
        pods.forEach((unit, pod) -> tenants.put(unit, pod.tenant()));
        return tenants;
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
        Optional<SlotClass> like = Optional.ofNullable(classes.get(name));
        classes.forEach((unit, other) -> {
            if (like.filter(other::equals).isPresent() && !pods.containsKey(unit)) {
                free.add(unit);
            }
        });
        if (free.isEmpty()) {
            return UnitPlacement.unknown(name, Optional.empty());
        }
        Collections.sort(free);
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
        for (Map.Entry<GpuId, Pod> entry : pods.entrySet()) {
            Pod pod = entry.getValue();
            if (pod.tenant().equals(tenant) && pod.name().equals(name)) {
                pods.remove(entry.getKey());
                return Optional.of(told(entry.getKey(), pod));
            }
        }
        return Optional.empty();
    }

    /** The units of a tenant have other names from now on. */
    void rename(Tenant tenant, UnaryOperator<GpuId> names) {
        pods.replaceAll((unit, pod) ->
                pod.tenant().equals(tenant) ? new Pod(tenant, names.apply(pod.name()), pod.user()) : pod);
    }

    /** Units are gone with all that ran on them. */
    void lose(Collection<GpuId> units) {
        units.forEach(pods::remove);
    }
}
