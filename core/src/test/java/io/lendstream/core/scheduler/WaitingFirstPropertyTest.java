package io.lendstream.core.scheduler;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.ReasonCode;
import io.lendstream.core.event.Abilities;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.ReplicaShape;
import io.lendstream.core.fixtures.Scenario;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.policy.catalogue.Policies;
import io.lendstream.core.seeds.Seeds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Services in a pool that is too small for all they may need, with forecasts that are right, or wrong, or swing. Their
 * needs rest for some minutes at a time. Each report of an actuator comes a window late. Some services may have
 * replicas of two GPUs, which answer twice as much.
 */
class WaitingFirstPropertyTest {
    private static final Duration WINDOW = ofSeconds(15);
    private static final int PHASES = 6;
    private static final int WINDOWS = 24;
    /**
     * Windows after which a phase has settled. A replica that has just started, and the need of the phase before, count
     * for 53 s and the rest of a minute; a release and a start take a window each; and needs are looked at once a window.
     */
    private static final int SETTLED = 14;

    private static final int NODE = 4;
    private static final ReplicaShape PAIR = ReplicaShape.of("pair", 2, 1, 20, ofSeconds(8));

    private final List<Decision> pending = new ArrayList<>();
    private Random random = new Random();
    private Scenario story = Scenario.of("lendstream");
    private int services;
    private int gpus;
    private int[] needs = {};
    /** By service: whether its replicas are pairs. */
    private boolean[] paired = {};
    /** By service: how a forecast relates to the load. */
    private int[] styles = {};

    @Seeds(40)
    void waitingRequestsAreServedBeforeExpectedOnes(Random drawn) {
        begin(drawn);
        play();
    }

    /** A node may have a single free GPU that is no use to a pair, so needs leave one for each node. */
    @Seeds(40)
    void waitingRequestsForPairsAreServedBeforeExpectedOnes(Random drawn) {
        beginWithPairs(drawn);
        play();
    }

    private void play() {
        for (int phase = 0; phase < PHASES; phase++) {
            draw();
            for (int window = 0; window < WINDOWS; window++) {
                window();
                if (window >= SETTLED && isEnough()) {
                    assertThat(isServed()).as("%s", this).isTrue();
                    assertThat(stopsSince(window - SETTLED))
                            .as("no more stops; %s", this)
                            .isZero();
                }
            }
        }
        assertThat(stopped())
                .as("at most once for each time in which a replica comes back; %s", this)
                .isLessThanOrEqualTo(mostStops());
        assertThat(story.verdict().violations()).isEmpty();
    }

    private void begin(Random drawn) {
        random = drawn;
        pending.clear();
        services = 2 + random.nextInt(5);
        gpus = services + random.nextInt(12);
        story = new Scenario(new Scheduler(
                        Policies.parse("lendstream"),
                        SchedulerSettings.of(Map.of("waiting-first", "true")).withLending(random.nextBoolean())))
                .node("train", Pool.TRAINING, 2)
                .node("infer", Pool.INFERENCE, gpus);
        for (int i = 0; i < services; i++) {
            pending.addAll(
                    story.service(name(i), random.nextInt(4) == 0 ? 1 : 0).last());
        }
        pending.addAll(story.job("bert", 16).last());
    }

    private void beginWithPairs(Random drawn) {
        random = drawn;
        pending.clear();
        services = 2 + random.nextInt(4);
        int nodes = 2 + random.nextInt(3);
        gpus = NODE * nodes;
        paired = new boolean[services];
        story = new Scenario(new Scheduler(
                        Policies.parse("lendstream"),
                        SchedulerSettings.of(Map.of("waiting-first", "true")).withLending(random.nextBoolean())))
                .node("train", Pool.TRAINING, 2);
        for (int i = 0; i < nodes; i++) {
            story.node("infer-" + i, Pool.INFERENCE, NODE);
        }
        story.actuator("one", Abilities.USUAL);
        for (int i = 0; i < services; i++) {
            paired[i] = i == 0 || random.nextBoolean();
            InferenceService service = story.serviceRecord(name(i), random.nextInt(4) == 0 ? 1 : 0);
            pending.addAll(story.tell(paired[i] ? service.inShapes(List.of(PAIR)) : service)
                    .last());
        }
        pending.addAll(story.job("bert", 16).last());
    }

    private boolean isPaired(int service) {
        return paired.length > 0 && paired[service];
    }

    private static String name(int service) {
        return "service-" + service;
    }

    /** Needs of half the pool up to three times as many, in any shares. */
    private void draw() {
        double total = gpus * (0.5 + 2.5 * random.nextDouble() * random.nextDouble());
        double[] parts = IntStream.range(0, services)
                .mapToDouble(any -> random.nextInt(4) == 0 ? 0 : Math.pow(random.nextDouble(), 2))
                .toArray();
        double sum = Math.max(
                1e-9, IntStream.range(0, services).mapToDouble(i -> parts[i]).sum());
        needs = IntStream.range(0, services)
                .map(i -> (int) Math.floor(total * parts[i] / sum))
                .toArray();
        styles = IntStream.range(0, services).map(any -> random.nextInt(4)).toArray();
    }

    private void window() {
        story.after(WINDOW);
        List<Decision> made = new ArrayList<>(story.last());
        for (Decision decision : List.copyOf(pending)) {
            story.answers(decision).forEach(report -> {
                story.tell(report);
                made.addAll(story.last());
            });
        }
        pending.clear();
        for (int i = 0; i < services; i++) {
            story.forecast(name(i), 8.0 * expected(i));
            made.addAll(story.last());
            story.rate(name(i), 8.0 * needs[i]);
            made.addAll(story.last());
        }
        pending.addAll(made);
    }

    private int expected(int service) {
        return switch (styles[service]) {
            case 0 -> needs[service];
            case 1 -> 0;
            case 2 -> 3 * gpus;
            default -> random.nextInt(3 * gpus);
        };
    }

    /** Whether what is needed has room, wherever single GPUs are taken; without pairs all GPUs are shared. */
    private boolean isEnough() {
        return paired.length == 0
                || IntStream.range(0, services).map(this::need).sum() <= gpus - gpus / NODE;
    }

    /** Whether each service has what it needs or, in a pool that is too small, its equal share. */
    private boolean isServed() {
        int equal = paired.length == 0 ? equal() : gpus;
        return IntStream.range(0, services).allMatch(i -> serving(i) >= Math.min(need(i), equal));
    }

    /** The GPUs that a service needs. */
    private int need(int service) {
        ServiceId id = new ServiceId(name(service));
        int each = isPaired(service) ? 2 : 1;
        int forLoad = (int) Math.ceil(8 * needs[service] / (8.5 * each));
        return each
                * Math.max(forLoad, story.state().services().require(id).spec().floorReplicas());
    }

    /** The greatest number that each service can get as far as it needs it. */
    private int equal() {
        int equal = gpus;
        while (equal > 1) {
            int most = equal;
            if (IntStream.range(0, services).map(i -> Math.min(need(i), most)).sum() <= gpus) {
                break;
            }
            equal--;
        }
        return equal;
    }

    private long serving(int service) {
        Tenant tenant = new Tenant.Service(new ServiceId(name(service)));
        return story.state().gpus().stream()
                .filter(unit -> unit.isHeldBy(tenant) && unit.owner().isServing())
                .count();
    }

    private int stopsSince(int windows) {
        return story.decisions().stream()
                .filter(decision -> decision.reason().is(ReasonCode.WAITING)
                        && decision.action().asIdle().isPresent())
                .filter(decision -> decision.at().isAfter(story.now().minus(WINDOW.multipliedBy(windows))))
                .mapToInt(decision -> decision.action().gpus().size())
                .sum();
    }

    private int stopped() {
        return stopsSince(PHASES * WINDOWS);
    }

    private int mostStops() {
        return (int) (gpus * (WINDOW.multipliedBy((long) PHASES * WINDOWS).toSeconds() / 53 + 1));
    }

    @Override
    public String toString() {
        return "%d GPUs, needs %s, pairs %s, forecasts %s, serving %s"
                .formatted(
                        gpus,
                        java.util.Arrays.toString(needs),
                        java.util.Arrays.toString(paired),
                        java.util.Arrays.toString(styles),
                        IntStream.range(0, services)
                                .mapToLong(this::serving)
                                .boxed()
                                .toList());
    }
}
