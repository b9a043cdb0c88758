package io.lendstream.actuator;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.actuator.adoption.FoundProcess;
import io.lendstream.actuator.driver.TenantFinder;
import io.lendstream.core.afe.RescaleCosts;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.AdoptionSelector;
import io.lendstream.core.event.FoundTenant;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.TrainingJob;
import io.lendstream.core.goodput.BatchRange;
import io.lendstream.core.goodput.GoodputProfile;
import io.lendstream.core.goodput.GradientNoise;
import io.lendstream.core.goodput.ThroughputParameters;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.JobId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.id.Tenant;
import io.lendstream.service.settings.Settings;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FoundTenantsTest {
    private static final DomainId DOMAIN = new DomainId("d");
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Tenant BERT = new Tenant.Job(new JobId("bert"));
    private static final Tenant CHAT = new Tenant.Service(new ServiceId("chat"));
    private static final AdoptionSelector SELECTOR = new AdoptionSelector(Map.of("command", "*train.py*"));

    private final List<Map<Tenant, AdoptionSelector>> looks = new ArrayList<>();
    private final Map<Tenant, AdoptionSelector> known = new HashMap<>();
    private final FoundTenants found = of("actuator.nodes=n1");
    private List<FoundProcess> there = List.of(process(1));

    private FoundTenants of(String... settings) {
        var tenants =
                new FoundTenants(ActuatorSettings.of(Settings.of(ActuatorSettings.KEYS, settings)), Runnable::run);
        tenants.use(Optional.of(new TenantFinder() {
            @Override
            public List<FoundProcess> find(Map<Tenant, AdoptionSelector> selectors) {
                looks.add(selectors);
                if (there.isEmpty()) {
                    throw new IllegalStateException("cannot look");
                }
                return selectors.isEmpty() ? List.of() : there;
            }

            @Override
            public void know(Tenant tenant, AdoptionSelector selector) {
                known.put(tenant, selector);
            }

            @Override
            public Optional<String> complaint(AdoptionSelector selector) {
                return Optional.empty();
            }
        }));
        return tenants;
    }

    private static FoundProcess process(int pid) {
        return new FoundProcess("process/%d-1".formatted(pid), List.of(BERT), Optional.of(2), "python3 train.py");
    }

    /** The reports at a time, after the look that is due then. */
    private static List<ActuationReport> lookedAt(FoundTenants tenants, int second) {
        Instant now = NOON.plusSeconds(second);
        List<ActuationReport> reports = new ArrayList<>(tenants.due(now));
        reports.addAll(tenants.due(now));
        return reports;
    }

    private static Node node(String name) {
        return new Node(new NodeId(name), DOMAIN, Pool.TRAINING, "boot", NOON, NodeStatus.READY, List.of());
    }

    private static TrainingJob job(String driver) {
        return new TrainingJob(
                new JobId("bert"),
                DOMAIN,
                NOON,
                "train",
                new TrainingJob.Scaling(1, 1, 8, true),
                TrainingJob.Precedence.USUAL,
                new TrainingJob.Traits(
                        new BatchRange(32, 256, 8, 64, Optional.empty()),
                        new GoodputProfile(new ThroughputParameters(0.1, 0.04, 0, 0, 0, 0, 1), new GradientNoise(1, 1)),
                        new RescaleCosts(Duration.ofSeconds(5), Duration.ofSeconds(1))),
                driver,
                Optional.empty());
    }

    private static InferenceService service() {
        return new InferenceService(
                new ServiceId("chat"),
                DOMAIN,
                NOON,
                List.of(),
                Duration.ofSeconds(1),
                10,
                Optional.empty(),
                1,
                Duration.ofSeconds(30),
                Optional.empty());
    }

    @Test
    void aChangedSelectorCountsBeforeTheNextLook() {
        found.know(node("n1"));
        found.know(job("simulated").adopting(SELECTOR));
        lookedAt(found, 0);
        AdoptionSelector narrower = new AdoptionSelector(Map.of("command", "*train.py --run 7*"));
        found.know(job("simulated").adopting(narrower));

        assertThat(known).isEqualTo(Map.of(BERT, narrower));
        assertThat(looks).hasSize(1);
    }

    @Test
    void whatSelectorsClaimIsReportedAtOnceAndOnceAMinuteAndWhenItChanges() {
        found.know(node("n1"));
        found.know(node("n2"));
        found.know(job("simulated").adopting(SELECTOR));
        found.know(service().adopting(SELECTOR));

        List<ActuationReport> first = lookedAt(found, 0);

        assertThat(first).hasSize(1);
        assertThat(first.get(0).outcome()).isEqualTo(Outcome.FOUND);
        assertThat(first.get(0).at()).isEqualTo(NOON);
        assertThat(first.get(0).found())
                .containsExactly(new FoundTenant(
                        new NodeId("n1"), "process/1-1", List.of(BERT), Optional.of(2), "python3 train.py"));
        assertThat(looks).containsExactly(Map.of(BERT, SELECTOR, CHAT, SELECTOR));
        assertThat(lookedAt(found, 9)).as("no look yet").isEmpty();
        assertThat(lookedAt(found, 10)).as("unchanged").isEmpty();
        assertThat(looks).hasSize(2);
        there = List.of(process(1), process(2));
        assertThat(lookedAt(found, 20)).hasSize(1);
        assertThat(lookedAt(found, 40)).as("not settled yet").isEmpty();
        assertThat(lookedAt(found, 60)).as("it may be taken over now").hasSize(1);
        assertThat(lookedAt(found, 100)).isEmpty();
        assertThat(lookedAt(found, 110)).hasSize(1);
    }

    @Test
    void withoutSelectorsNothingIsLookedForButTheLastReportIsTakenBack() {
        found.know(node("n1"));
        found.know(job("simulated"));
        found.know(job("command").adopting(SELECTOR));
        assertThat(lookedAt(found, 0)).isEmpty();
        assertThat(looks).as("a job of another driver").isEmpty();

        found.know(job("simulated").adopting(SELECTOR));
        assertThat(lookedAt(found, 10)).hasSize(1);
        found.forget(DOMAIN, new JobId("bert"));

        assertThat(lookedAt(found, 20))
                .singleElement()
                .satisfies(report -> assertThat(report.found()).isEmpty());
        int before = looks.size();
        assertThat(lookedAt(found, 90)).isEmpty();
        assertThat(looks).hasSize(before);
    }

    @Test
    void aDomainWithoutNodesOfThisActuatorIsNotLookedFor() {
        found.know(node("n2"));
        found.know(service().adopting(SELECTOR));

        assertThat(lookedAt(found, 0)).isEmpty();
        assertThat(looks).isEmpty();
    }

    @Test
    void anActuatorOfAllNodesOfItsMachineReportsForEach() {
        FoundTenants all = of("actuator.nodes=all");
        all.know(node("n2"));
        all.know(node("n1"));
        all.know(service().adopting(SELECTOR));

        assertThat(lookedAt(all, 0).get(0).found())
                .extracting(each -> each.node().value())
                .containsExactly("n1", "n2");
    }

    @Test
    void aFailedLookReportsNothingAndIsRepeated() {
        there = List.of();
        found.know(node("n1"));
        found.know(service().adopting(SELECTOR));
        assertThat(lookedAt(found, 0)).isEmpty();

        there = List.of(process(1));

        assertThat(lookedAt(found, 10)).hasSize(1);
    }

    @Test
    void moreThanOneRecordHoldsAreCut() {
        there = IntStream.range(0, 1000).mapToObj(FoundTenantsTest::process).toList();
        found.know(node("n1"));
        found.know(service().adopting(SELECTOR));

        assertThat(lookedAt(found, 0).get(0).found()).hasSize(FoundTenants.MOST);
    }
}
