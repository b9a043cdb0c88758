package io.lendstream.core.actuation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Allocation;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Mechanism;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.Gpu;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.simulated.SimulatedDelays;
import io.lendstream.core.simulated.SimulatedDriver;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** One actuator of two domains: neither takes anything from the other by using its names. */
class DomainsApartTest {
    private static final DomainId OURS = new DomainId("ours");
    private static final DomainId THEIRS = new DomainId("theirs");
    private static final JobId BERT = new JobId("bert");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private final Map<DomainId, Long> sequences = new HashMap<>();
    private final Actuation actuation =
            new Actuation("a", Duration.ofSeconds(45), new SimulatedDriver(SimulatedDelays.realistic()));

    @Test
    void aGpuThatAnotherDomainDeclaresTooStaysWithTheFirst() {
        actuation.know(node("n1", OURS, "g1", "g2"));
        actuation.know(node("n1", THEIRS, "g1"));
        actuation.know(job(OURS));

        assertThat(take(THEIRS, "g1")).isEqualTo("REJECTED g1 is a GPU of domain ours");
        assertThat(take(OURS, "g1", "g2")).isEqualTo("ACCEPTED ");
    }

    @Test
    void aGpuIsTheOtherDomainsOnceItsNodeIsForgotten() {
        actuation.know(node("n1", OURS, "g1"));
        actuation.forget(OURS, new NodeId("n1"));
        actuation.know(node("n1", THEIRS, "g1"));

        assertThat(take(THEIRS, "g1")).isEqualTo("ACCEPTED ");
    }

    @Test
    void anotherDomainForgetsOnlyItsOwnNode() {
        actuation.know(node("n1", OURS, "g1"));
        actuation.forget(THEIRS, new NodeId("n1"));

        assertThat(take(OURS, "g1")).isEqualTo("ACCEPTED ");
    }

    /**
     * A decision names a job's whole allocation, so that one of another domain's job would take this one's GPUs away.
     */
    @Test
    void aJobKeepsItsGpusWhenAnotherDomainDecidesAboutAJobOfItsName() {
        actuation.know(node("n1", OURS, "g1", "g2"));
        actuation.know(node("n2", THEIRS, "h1"));
        take(OURS, "g1", "g2");
        actuation.advance(NOON.plusSeconds(60));

        assertThat(take(THEIRS, "h1"))
                .isEqualTo("REJECTED a job of this name runs in domain ours; one actuator runs jobs of one name for one"
                        + " domain");
        assertThat(actuation.holdings())
                .extracting(holding -> holding.gpu().value())
                .containsExactly("g1", "g2");
        assertThat(actuation.home(BERT)).contains(OURS);
        assertThat(take(OURS, "g1")).isEqualTo("ACCEPTED ");
    }

    @Test
    void aJobStaysInItsDomainThoughTheNodeOfItsGpusIsForgotten() {
        actuation.know(node("n1", OURS, "g1"));
        actuation.know(node("n2", THEIRS, "h1"));
        take(OURS, "g1");

        actuation.forget(OURS, new NodeId("n1"));

        assertThat(actuation.home(BERT)).contains(OURS);
        assertThat(take(THEIRS, "h1")).startsWith("REJECTED a job of this name runs in domain ours");
    }

    /** The other domain says of a job of the same name that it takes an hour to start. */
    @Test
    void aJobIsTakenForWhatItsOwnDomainDeclares() {
        actuation.know(node("n1", OURS, "g1", "g2"));
        actuation.know(job(OURS));
        actuation.know(job(THEIRS, Duration.ofHours(1)));
        take(OURS, "g1");

        assertThat(actuation.nextEventAt().orElseThrow()).isEqualTo(NOON.plusSeconds(3));
        List<ActuationReport> reports = actuation.advance(NOON.plusSeconds(60));

        assertThat(reports).extracting(ActuationReport::outcome).containsExactly(Outcome.BOUND, Outcome.APPLIED);
    }

    private String take(DomainId domain, String... gpus) {
        long sequence = sequences.merge(domain, 1L, Long::sum);
        List<GpuId> allocation = Arrays.stream(gpus).map(GpuId::new).toList();
        Decision decision = new Decision(
                new DecisionId(domain, 1, sequence),
                actuation.clock(),
                NOON.plusSeconds(600),
                false,
                new Reason("plan", "", Map.of(), List.of()),
                new Action.Resize(BERT, allocation, new Allocation(allocation, 10, 0, 1, Mechanism.AFE)));
        Instant now = actuation.clock().isAfter(NOON) ? actuation.clock() : NOON;
        ActuationReport answer = actuation.take(decision, now).get(0);
        return "%s %s".formatted(answer.outcome(), answer.reason());
    }

    private static Node node(String name, DomainId domain, String... gpus) {
        var inventory = new ArrayList<Gpu>();
        for (String gpu : gpus) {
            inventory.add(Gpu.whole(new GpuId(gpu), inventory.size(), "A100", 80L << 30));
        }
        return new Node(new NodeId(name), domain, Pool.TRAINING, "boot", NOON, NodeStatus.READY, inventory);
    }

    private static TrainingJob job(DomainId domain) {
        return job(domain, Duration.ofSeconds(20));
    }

    private static TrainingJob job(DomainId domain, Duration start) {
        return new TrainingJob(
                BERT,
                domain,
                NOON,
                "cifar10",
                new TrainingJob.Scaling(1, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(10, 1000, 1, 100, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(start, Duration.ofSeconds(2))),
                "simulated",
                Optional.empty());
    }
}
