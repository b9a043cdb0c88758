package io.lendstream.simulator.workload;

import io.lendstream.core.decision.ReplicaRole;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.event.RoleFloor;
import io.lendstream.core.event.StartTimes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The columns of a list of services about its replicas. {@code replicaShapes} has the shapes of replicas of several
 * GPUs, preferred ones first, between semicolons. Each is {@code NAME:GPUSxNODES:PER_SECOND:SECONDS}, such as {@code
 * tp4:4x1:20:90}, and may end with a role: {@code in:1x1:38:30:prefill}. The seconds are those to start cold, and then
 * those from cache and from sleep, if they are known: {@code 90/40/7}, or {@code 90//7}. {@code roleFloors} has the
 * floors of roles that differ from that of the service: {@code prefill:1;decode:2}. {@code memoryGib} is what a replica
 * needs on each GPU.
 */
final class ListedReplicas {
    static final List<String> COLUMNS = List.of("replicaShapes", "roleFloors", "memoryGib");

    private static final String COLUMN = "replicaShapes";
    private static final int MOST_UNITS = 1000;
    private static final double MOST_PER_SECOND = 1e9;
    private static final double DAY_SECONDS = 86_400;

    private ListedReplicas() {}

    /** The shapes of a line; none if each replica has one GPU. */
    static List<ReplicaShape> shapes(CsvRow row) {
        List<ReplicaShape> shapes = new ArrayList<>();
        Set<String> names = new HashSet<>();
        String text = row.text(COLUMN);
        for (String part : text.isEmpty() ? List.<String>of() : List.of(text.split(";", -1))) {
            ReplicaShape shape = shape(row, part.strip());
            if (!names.add(shape.name())) {
                throw bad(row);
            }
            shapes.add(ListedKinds.memory(row).map(shape::withMemory).orElse(shape));
        }
        checkRoles(row, shapes);
        return shapes;
    }

    /** The memory that a replica of one GPU needs; that of shapes is in each of them. */
    static Optional<Long> memoryOfOneGpu(CsvRow row) {
        return row.text(COLUMN).isEmpty() ? ListedKinds.memory(row) : Optional.empty();
    }

    /** The floors of roles that differ from the floor of the service; the shapes have these roles. */
    static List<RoleFloor> floors(CsvRow row) {
        Set<ReplicaRole> roles = EnumSet.noneOf(ReplicaRole.class);
        shapes(row).forEach(shape -> roles.add(shape.role()));
        List<RoleFloor> floors = new ArrayList<>();
        row.pairs("roleFloors").forEach((name, replicas) -> {
            Optional<ReplicaRole> role = roles.stream()
                    .filter(any -> any != ReplicaRole.ALL && any.name().equals(name.toUpperCase(Locale.ROOT)))
                    .findFirst();
            if (role.isEmpty()) {
                throw row.bad("roleFloors", "roles of replicaShapes: prefill and decode");
            }
            floors.add(new RoleFloor(role.get(), floor(row, replicas)));
        });
        return floors;
    }

    private static int floor(CsvRow row, String text) {
        try {
            int floor = Integer.parseInt(text);
            if (floor >= 0 && floor <= MOST_UNITS) {
                return floor;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw row.bad(
                "roleFloors",
                "ROLE:REPLICAS between semicolons, with whole numbers from 0 to %d, such as prefill:1;decode:2"
                        .formatted(MOST_UNITS));
    }

    /** Each request needs all roles of a service, and a replica for whole requests needs no others beside it. */
    private static void checkRoles(CsvRow row, List<ReplicaShape> shapes) {
        Set<ReplicaRole> roles = EnumSet.noneOf(ReplicaRole.class);
        shapes.forEach(shape -> roles.add(shape.role()));
        if (roles.size() > 1 && roles.contains(ReplicaRole.ALL)) {
            throw row.bad(
                    COLUMN,
                    "no shapes of role all beside shapes of other roles; a shape without a role has role all; declare two services");
        }
        if (roles.size() == 1 && !roles.contains(ReplicaRole.ALL)) {
            throw row.bad(
                    COLUMN,
                    "a shape of role %s too, because each request needs prefill and decode"
                            .formatted(roles.contains(ReplicaRole.DECODE) ? "prefill" : "decode"));
        }
    }

    private static ReplicaShape shape(CsvRow row, String part) {
        List<String> fields = List.of(part.split(":", -1));
        List<String> units =
                fields.size() == 4 || fields.size() == 5 ? List.of(fields.get(1).split("x", -1)) : List.of();
        if (units.size() != 2 || fields.get(0).isBlank()) {
            throw bad(row);
        }
        ReplicaShape shape = ReplicaShape.of(
                fields.get(0),
                (int) number(row, units.get(0), 1, MOST_UNITS),
                (int) number(row, units.get(1), 1, MOST_UNITS),
                number(row, fields.get(2), 0.001, MOST_PER_SECOND),
                Duration.ZERO);
        ReplicaShape started = shape.starting(starts(row, List.of(fields.get(3).split("/", -1))));
        return fields.size() == 4 ? started : started.as(role(row, fields.get(4).strip()));
    }

    private static StartTimes starts(CsvRow row, List<String> seconds) {
        if (seconds.size() > 3) {
            throw bad(row);
        }
        return new StartTimes(time(row, seconds.get(0)), known(row, seconds, 1), known(row, seconds, 2));
    }

    private static Optional<Duration> known(CsvRow row, List<String> seconds, int place) {
        return place >= seconds.size() || seconds.get(place).isBlank()
                ? Optional.empty()
                : Optional.of(time(row, seconds.get(place)));
    }

    private static Duration time(CsvRow row, String seconds) {
        return Duration.ofMillis(Math.round(1000 * number(row, seconds, 0, DAY_SECONDS)));
    }

    private static ReplicaRole role(CsvRow row, String name) {
        return switch (name) {
            case "all" -> ReplicaRole.ALL;
            case "prefill" -> ReplicaRole.PREFILL;
            case "decode" -> ReplicaRole.DECODE;
            default -> throw bad(row);
        };
    }

    private static double number(CsvRow row, String text, double least, double most) {
        try {
            double number = Double.parseDouble(text.strip());
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw bad(row);
    }

    private static IllegalArgumentException bad(CsvRow row) {
        return row.bad(
                COLUMN,
                "NAME:GPUSxNODES:PER_SECOND:COLD_SECONDS between semicolons, such as tp4:4x1:20:90, each name once;"
                        + " seconds from cache and from sleep may follow, such as 90/40/7, and a role may follow: all,"
                        + " prefill or decode");
    }
}
