package io.lendstream.actuator.driver;

import io.lendstream.actuator.jobs.JobProgram;
import io.lendstream.actuator.jobs.ReplicaProgram;
import io.lendstream.actuator.jobs.Slot;
import io.lendstream.core.actuation.Order;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.Tenant;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** The actions of the process driver for an order, and its checks, without executing anything. */
public final class ProcessPlan {
    private static final List<String> TOOLS = List.of("setsid", "sh", "mkdir", "mv");

    /** The actions for a placement, if the node's files are complete. */
    private interface Plan {
        List<String> lines() throws Programs.ProgramException;
    }

    private final Programs programs;
    private final ClusterLookup surroundings;
    private final Worlds worlds;

    /**
     * @param programs the programs of the node
     * @param machine this machine, if jobs here may have GPUs of other machines too
     */
    public ProcessPlan(Programs programs, Optional<Machine> machine, ClusterLookup surroundings) {
        this.programs = programs;
        this.surroundings = surroundings;
        this.worlds = new Worlds(machine, surroundings);
    }

    /** A line each. */
    public List<String> of(Order order) {
        try {
            if (order instanceof Order.Place place) {
                return place.tenant()
                        .match(Tenant.Cases.<Plan>of(
                                job -> () -> job(job, place), service -> () -> service(service, place)))
                        .lines();
            }
            return List.of(
                    order instanceof Order.Force force
                            ? "kill (SIGKILL) the processes of %s on %s".formatted(force.tenant(), names(force.units()))
                            : "refuse %s: the process driver cannot execute this kind of order"
                                    .formatted(OrderJson.of(order)));
        } catch (Programs.ProgramException e) {
            return List.of("fail %s: %s".formatted(order.decision(), e.getMessage()));
        }
    }

    private List<String> job(Tenant.Job job, Order.Place place) throws Programs.ProgramException {
        List<String> adopted = adopted(place);
        if (!adopted.isEmpty()) {
            return adopted;
        }
        if (place.units().isEmpty()) {
            return List.of("stop %s (SIGTERM after the current step) on %s".formatted(job, names(place.leaving())));
        }
        JobProgram program = programs.job(surroundings
                .job(job.job())
                .orElseThrow(() -> new Programs.ProgramException("%s has not been submitted".formatted(job))));
        List<String> devices = DeviceSlots.of(place.units(), surroundings).stream()
                .map(Slot::device)
                .toList();
        String others = worlds.of(place).map(all -> ", of " + all.inWords()).orElse("");
        return List.of("run %s (%s) as %s of %s in %s, CUDA_VISIBLE_DEVICES of each %s%s%s"
                .formatted(
                        job,
                        program.mode().name().toLowerCase(java.util.Locale.ROOT),
                        Reason.counted(devices.size(), "worker"),
                        program.command(),
                        program.directory(),
                        devices,
                        others,
                        place.leaving().isEmpty() ? "" : "; leave " + names(place.leaving())));
    }

    private List<String> service(Tenant.Service service, Order.Place place) throws Programs.ProgramException {
        List<String> lines = new ArrayList<>();
        if (!place.leaving().isEmpty()) {
            lines.add("stop (SIGTERM) the replicas of %s on %s".formatted(service, names(place.leaving())));
        }
        lines.addAll(adopted(place));
        List<GpuId> others =
                place.adopted().stream().flatMap(each -> each.units().stream()).toList();
        List<List<GpuId>> own = place.together().stream()
                .filter(units -> units.stream().noneMatch(others::contains))
                .toList();
        if (!own.isEmpty()) {
            ReplicaProgram program = programs.service(service.service().value());
            for (List<GpuId> units : own) {
                List<String> devices = DeviceSlots.of(units, surroundings).stream()
                        .map(Slot::device)
                        .toList();
                lines.add("run a replica of %s: %s in %s, CUDA_VISIBLE_DEVICES=%s"
                        .formatted(service, program.command(), program.directory(), String.join(",", devices)));
            }
        }
        return lines;
    }

    /** What runs already. A job of which it is a part only is ended and started again. */
    private static List<String> adopted(Order.Place place) {
        return place.adopted().stream()
                .filter(each -> place.tenant().isService() || each.units().equals(place.units()))
                .map(each -> "take over %s as %s on %s, as it is"
                        .formatted(each.user(), place.tenant(), names(each.units())))
                .toList();
    }

    private static List<String> names(List<GpuId> units) {
        return units.stream().map(GpuId::value).toList();
    }

    /** The missing prerequisites, with the way out. */
    public List<String> complaints() {
        List<String> complaints = new ArrayList<>();
        if (!Files.isDirectory(programs.directory())) {
            complaints.add(
                    "actuator.process.programs is %s, which is not a directory; create it, with jobs/ and services/ in it"
                            .formatted(programs.directory()));
        }
        String[] path = System.getenv().getOrDefault("PATH", "").split(":", -1);
        for (String tool : TOOLS) {
            if (Arrays.stream(path).noneMatch(each -> Files.isExecutable(Path.of(each, tool)))) {
                complaints.add("%s is not on the PATH; install it (coreutils, util-linux)".formatted(tool));
            }
        }
        return complaints;
    }
}
