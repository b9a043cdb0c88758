package io.lendstream.core.event;

import io.lendstream.core.afe.PauseCosts;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.KindRatio;
import io.lendstream.core.goodput.ThroughputParameters;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The bounds of values in input records. They are given by record class and component, or by Java type for components
 * without an entry. A new component of an input record is bounded without an entry here.
 *
 * <p>The codec enforces the bounds. What others write is refused where it breaks them; what this system wrote is
 * clamped to the nearest legal value, because a state, a log or a file of an earlier version must load:
 *
 * <table> <caption>Which reader refuses and which clamps</caption>
 * <tr><th>reader</th><th>source</th><th>out of bounds</th></tr>
 * <tr><td>scheduler, actuator, forecaster, agent</td><td>topics that others write: nodes, gpu-telemetry, services,
 * request-rates, training-jobs, training-progress, queues, demand-forecasts, control</td><td>refused</td></tr>
 * <tr><td>the same</td><td>topics that only this system writes: decisions, batching-decisions, leases, domain-events,
 * actuation-reports, actuators, progress</td><td>clamped</td></tr>
 * <tr><td>scheduler</td><td>entries of its state</td><td>clamped</td></tr>
 * <tr><td>actuator</td><td>its state file</td><td>clamped</td></tr>
 * <tr><td>explain, top, doctor, the checker</td><td>all topics</td><td>clamped</td></tr>
 * </table>
 *
 * <p>Actuation reports are clamped although they are an input of the scheduler: they answer decisions about names that
 * an earlier version accepted, and a release that is refused leaves its GPU out of service.
 */
public final class Limits {
    /** The earliest time that a record may name. */
    public static final Instant EARLIEST = Instant.EPOCH;
    /** The latest time that a record may name. */
    public static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");
    /** The longest window that a request rate may cover. */
    public static final Duration LONGEST_WINDOW = Duration.ofHours(1);
    /** The most characters of a name. */
    public static final int LONGEST_NAME = 249;
    /** The most characters of a text of an input record; longer texts are cut. */
    public static final int LONGEST_TEXT = 4096;
    /** The most entries of a list or a map of an input record. */
    public static final int MOST_ENTRIES = 100_000;

    private static final int LONGEST_SHOWN = 60;

    private static final String EVENTS = "io.lendstream.core.event";
    private static final Set<Class<?>> PARTS_OF_EVENTS = Set.of(
            BatchRange.class,
            RescaleCosts.class,
            PauseCosts.class,
            GoodputProfile.class,
            ThroughputParameters.class,
            GradientNoise.class,
            KindRatio.class);

    /** Bounds of a whole number, both included; of a time or a length of time in milliseconds. */
    public record Whole(long least, long most) {
        private static final Whole ANY = new Whole(Long.MIN_VALUE, Long.MAX_VALUE);

        public boolean includes(long value) {
            return value >= least && value <= most;
        }

        /** The nearest value that is included. */
        public long nearest(long value) {
            return Math.max(least, Math.min(most, value));
        }
    }

    /** Bounds of a number, both included; not-a-number is outside. */
    public record Real(double least, double most) {
        public boolean includes(double value) {
            return value >= least && value <= most;
        }

        /** The nearest value that is included; {@code least} for not-a-number. */
        public double nearest(double value) {
            return Double.isNaN(value) ? least : Math.max(least, Math.min(most, value));
        }
    }

    private static final long MILLION = 1_000_000;
    private static final Whole REQUESTS = new Whole(0, 100 * MILLION);
    private static final Whole UNITS = new Whole(0, MILLION);
    private static final Whole DAY = new Whole(0, Duration.ofDays(1).toMillis());
    private static final Whole HOUR = new Whole(0, LONGEST_WINDOW.toMillis());
    private static final Whole YEAR = new Whole(0, Duration.ofDays(366).toMillis());
    private static final Whole TIMES = new Whole(EARLIEST.toEpochMilli(), LATEST.toEpochMilli());
    private static final Whole INTS = new Whole(-1000 * MILLION, 1000 * MILLION);
    private static final Whole LONGS = new Whole(-1_000_000_000 * MILLION, 1_000_000_000 * MILLION);
    private static final Whole NATURALS = new Whole(0, LONGS.most);
    private static final Real REALS = new Real(-1e18, 1e18);
    private static final Real AT_LEAST_ZERO = new Real(0, 1e18);
    private static final Real GPUS = new Real(0, MILLION);
    private static final Real CAPACITIES = new Real(1e-6, 1e18);
    private static final Real WEIGHTS = new Real(1e-6, MILLION);

    /** Numbers that only grow, and by which a place in a log is known. */
    private static final Set<String> PLACES = Set.of("sequence", "epoch", "offset", "positions");

    private static final Map<String, Whole> WHOLES = Map.ofEntries(
            Map.entry("InferenceService.warmUp", DAY),
            Map.entry("InferenceService.floorReplicas", UNITS),
            Map.entry("RoleFloor.replicas", UNITS),
            Map.entry("InferenceService.replicaConcurrency", REQUESTS),
            Map.entry("RequestRate.arrivals", REQUESTS),
            Map.entry("RequestRate.completions", REQUESTS),
            Map.entry("RequestRate.inFlight", REQUESTS),
            Map.entry("RequestRate.queueDepth", REQUESTS),
            // A window that ends before the earliest time still ends after it starts.
            Map.entry("RequestRate.windowEnd", new Whole(TIMES.least + 1, TIMES.most + 1)),
            Map.entry("SizeCount.requests", REQUESTS),
            Map.entry("BatchTimes.count", REQUESTS),
            Map.entry("BatchTimes.batch", UNITS),
            Map.entry("TrainingJob.requestedGpus", UNITS),
            Map.entry("TrainingJob.minGpus", UNITS),
            Map.entry("TrainingJob.maxGpus", UNITS),
            Map.entry("TrainingJob.sizes", new Whole(1, MILLION)),
            Map.entry("TrainingJob.multipleOf", new Whole(1, MILLION)),
            Map.entry("TrainingProgress.nodes", UNITS),
            Map.entry("TrainingProgress.replicas", UNITS),
            Map.entry("TrainingProgress.accumulation", UNITS),
            Map.entry("KindCapacity.warmUp", DAY),
            Map.entry("GroupPart.units", new Whole(1, MILLION)),
            Map.entry("ReplicaShape.cold", DAY),
            Map.entry("ReplicaShape.cached", DAY),
            Map.entry("ReplicaShape.asleep", DAY),
            Map.entry("ReplicaShape.gpusPerNode", new Whole(1, 1000)),
            Map.entry("ReplicaShape.nodes", new Whole(1, 1000)),
            Map.entry("ReplicaShape.memoryBytes", new Whole(1, LONGS.most)),
            Map.entry("KindTraits.localMax", new Whole(1, INTS.most)),
            Map.entry("TrainingJob.memoryBytes", new Whole(1, LONGS.most)),
            Map.entry("RescaleCosts.first", DAY),
            Map.entry("RescaleCosts.next", DAY),
            Map.entry("PauseCosts.pause", DAY),
            Map.entry("PauseCosts.resumeHere", DAY),
            Map.entry("PauseCosts.resumeElsewhere", DAY),
            Map.entry("PauseCosts.hostMemoryBytes", NATURALS),
            Map.entry("TrainingJob.cpuMillisPerGpu", new Whole(1, LONGS.most)),
            Map.entry("TrainingJob.memoryBytesPerGpu", new Whole(1, LONGS.most)),
            Map.entry("Node.cpuMillis", new Whole(1, LONGS.most)),
            Map.entry("Node.memoryBytes", new Whole(1, LONGS.most)),
            Map.entry("HostShare.cpuMillis", NATURALS),
            Map.entry("HostShare.memoryBytes", NATURALS),
            Map.entry("PausedAt.hostMemoryBytes", NATURALS),
            Map.entry("DemandForecast.step", DAY),
            Map.entry("GpuInstance.start", UNITS),
            Map.entry("GpuInstance.size", UNITS),
            Map.entry("InstanceProfile.most", UNITS),
            // what the scheduler keeps of them
            Map.entry("SourceRate.inFlight", REQUESTS),
            Map.entry("SourceRate.queueDepth", REQUESTS),
            Map.entry("SourceRate.window", HOUR),
            Map.entry("ShortWindows.arrivals", NATURALS),
            Map.entry("ShortWindows.covered", HOUR),
            Map.entry("JobState.largestRun", UNITS),
            Map.entry("JobState.changedFrom", UNITS),
            Map.entry("NodeState.samplePeriod", YEAR));

    private static final Map<String, Real> REALS_OF = Map.ofEntries(
            Map.entry("KindRatio.factor", new Real(1e-3, 1e3)),
            Map.entry("KindRatio.uncertainty", new Real(0, 0.99)),
            Map.entry("KindCapacity.perSecond", CAPACITIES),
            Map.entry("ReplicaShape.perSecond", CAPACITIES),
            Map.entry("KindQuota.nominalQuota", GPUS),
            Map.entry("KindQuota.borrowingLimit", GPUS),
            Map.entry("KindQuota.lendingLimit", GPUS),
            Map.entry("ClusterQueue.weight", WEIGHTS),
            Map.entry("SourceRate.arrivalsPerSecond", AT_LEAST_ZERO),
            Map.entry("DemandPeak.requestsPerSecond", AT_LEAST_ZERO),
            Map.entry("JobState.progress", REALS),
            Map.entry("JobState.totalProgress", REALS),
            Map.entry("JobState.attainedGpuSeconds", AT_LEAST_ZERO));

    private Limits() {}

    /** Bounds of a time, in milliseconds since 1970. */
    public static Whole times(Class<?> record, String component) {
        return WHOLES.getOrDefault(key(record, component), TIMES);
    }

    /**
     * Bounds of a length of time, in milliseconds. What the scheduler sums up itself has none but those of a long life.
     */
    public static Whole lengths(Class<?> record, String component) {
        return WHOLES.getOrDefault(key(record, component), isInput(record) ? YEAR : LONGS);
    }

    /**
     * Bounds of a whole number.
     *
     * @param type {@code int} or {@code long}, or their boxes
     */
    public static Whole wholes(Class<?> record, String component, Class<?> type) {
        Whole usual = type == int.class || type == Integer.class ? INTS : LONGS;
        return WHOLES.getOrDefault(
                key(record, component), isInput(record) && !PLACES.contains(component) ? usual : Whole.ANY);
    }

    /** Bounds of a number; empty where a record of the scheduler's own may hold any, infinity and not-a-number too. */
    public static Optional<Real> reals(Class<?> record, String component) {
        return Optional.ofNullable(REALS_OF.getOrDefault(key(record, component), isInput(record) ? REALS : null));
    }

    /** The most characters of a text. Texts of the scheduler are not bounded: a replay must find them unchanged. */
    public static int text(Class<?> record) {
        return isInput(record) && record != SchedulerStarted.class ? LONGEST_TEXT : Integer.MAX_VALUE;
    }

    /** The most entries of a list or a map. */
    public static int entries(Class<?> record) {
        return isInput(record) && record != SchedulerStarted.class ? MOST_ENTRIES : Integer.MAX_VALUE;
    }

    /** A text cut to so many characters, but never within one that takes two. */
    public static String cut(String text, int most) {
        if (text.length() <= most) {
            return text;
        }
        return text.substring(0, Character.isHighSurrogate(text.charAt(most - 1)) ? most - 1 : most);
    }

    /**
     * A name in input records: 1 to {@value #LONGEST_NAME} printable ASCII characters without quotes (double, single
     * and back) and backslashes, and with no part between slashes that is {@code .} or {@code ..}.
     *
     * @param kind the kind of object, for the message
     * @return the name
     * @throws IllegalArgumentException if it is not a name; the message says what is wrong and what is allowed
     */
    public static String name(String kind, String text) {
        if (text.isEmpty() || text.length() > LONGEST_NAME) {
            throw new IllegalArgumentException(
                    text.isEmpty()
                            ? "%s must have 1 to %d characters, but is empty; give it a name"
                                    .formatted(kind, LONGEST_NAME)
                            : "%s must have at most %d characters, but '%s' has %d; choose a shorter name"
                                    .formatted(kind, LONGEST_NAME, shown(text), text.length()));
        }
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            char letter = i == text.length() ? '/' : text.charAt(i);
            if (letter == '/') {
                if (isDots(text, start, i)) {
                    throw new IllegalArgumentException(
                            "%s '%s' has a part that is '.' or '..', which no file system takes for a name; rename it"
                                    .formatted(kind, shown(text)));
                }
                start = i + 1;
            } else if (letter < 0x21
                    || letter > 0x7E
                    || letter == '"'
                    || letter == '\''
                    || letter == '`'
                    || letter == '\\') {
                throw new IllegalArgumentException(
                        "%s may have printable ASCII characters without blanks, quotes (\" ' `) and backslashes, but character %d of '%s' is U+%04X; rename it"
                                .formatted(kind, i + 1, shown(text), (int) letter));
            }
        }
        return text;
    }

    /** A name that breaks the rule, as a message may have it. */
    private static String shown(String text) {
        String start = text.length() > LONGEST_SHOWN ? text.substring(0, LONGEST_SHOWN) + "..." : text;
        return start.replaceAll("[^\\x20-\\x7E]", "?");
    }

    private static boolean isDots(String text, int from, int to) {
        int length = to - from;
        return (length == 1 || length == 2) && text.charAt(from) == '.' && text.charAt(to - 1) == '.';
    }

    /**
     * Rules across several components. They apply to records that arrive and not to loaded state, so they are not part
     * of the constructors.
     *
     * @throws IllegalArgumentException where the event breaks one
     */
    public static void check(Event event) {
        event.asRate()
                .filter(rate -> rate.window().compareTo(LONGEST_WINDOW) > 0)
                .ifPresent(rate -> {
                    throw new IllegalArgumentException(
                            "the window of a request rate may be %s at most, but that of %s is %s, from %s to %s; report more often"
                                    .formatted(
                                            LONGEST_WINDOW,
                                            rate.service(),
                                            rate.window(),
                                            rate.windowStart(),
                                            rate.windowEnd()));
                });
        event.asJob().filter(job -> !job.hasSize()).ifPresent(job -> {
            TrainingJob.Scaling range = job.scaling();
            throw new IllegalArgumentException(
                    "%s can never start: its shape (%s) allows no number of GPUs from %d to %d; change sizes, multipleOf or the numbers of GPUs"
                            .formatted(
                                    job.job(),
                                    job.shape().inWords(),
                                    range.least(),
                                    range.elastic() ? range.maxGpus() : range.requestedGpus()));
        });
        event.asJob().ifPresent(Limits::checkProgram);
        event.asService().ifPresent(Limits::checkShapes);
    }

    /** The driver tells whether a job brings its program, so that no version runs another program in its place. */
    private static void checkProgram(TrainingJob job) {
        if (job.program().isPresent() != job.driver().equals(SubmittedProgram.DRIVER)) {
            throw new IllegalArgumentException(
                    "the driver of %s is %s, but each job with a program has driver %s, and no other job has it; change the driver, or the program"
                            .formatted(job.job(), job.driver(), SubmittedProgram.DRIVER));
        }
        if (job.program().isPresent() && job.adopt().isPresent()) {
            throw new IllegalArgumentException(
                    "%s has program and adopt, but a job is started or taken over; leave one out".formatted(job.job()));
        }
        job.program().ifPresent(SubmittedProgram::check);
    }

    private static void checkShapes(InferenceService service) {
        service.hardware().shapes().forEach(shape -> name("shape", shape.name()));
        service.hardware().repeated().ifPresent(name -> {
            throw new IllegalArgumentException("service %s has two shapes with the name %s; give each its own name"
                    .formatted(service.service(), name));
        });
        service.hardware().impossible().ifPresent(shape -> {
            throw new IllegalArgumentException(
                    "shape %s of service %s has several nodes within one node; give it another level or one node"
                            .formatted(shape.inWords(), service.service()));
        });
        if (service.hardware().mixesRoles()) {
            throw new IllegalArgumentException(
                    "service %s has shapes of role ALL beside shapes of other roles; declare two services"
                            .formatted(service.service()));
        }
        if (!service.hardware().shapes().isEmpty() && service.sliceMemoryBytes().isPresent()) {
            throw new IllegalArgumentException(
                    "service %s has shapes and sliceMemoryBytes, but replicas in shapes do not run on MIG instances; leave one out"
                            .formatted(service.service()));
        }
    }

    /** A length of time in milliseconds; the nearest number where that is beyond all numbers. */
    public static long millis(Duration length) {
        try {
            return length.toMillis();
        } catch (ArithmeticException e) {
            return length.isNegative() ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    /** A time in milliseconds since 1970; the nearest number where that is beyond all numbers. */
    public static long millis(Instant time) {
        try {
            return time.toEpochMilli();
        } catch (ArithmeticException e) {
            return time.isBefore(EARLIEST) ? Long.MIN_VALUE : Long.MAX_VALUE;
        }
    }

    private static boolean isInput(Class<?> record) {
        return record.getPackageName().equals(EVENTS) || PARTS_OF_EVENTS.contains(record);
    }

    private static String key(Class<?> record, String component) {
        return record.getSimpleName() + "." + component;
    }
}
