package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.event.DomainSettings;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.KindCapacity;
import io.lendstream.core.event.SchedulerStarted;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.scheduler.DeclarableSettings;
import io.lendstream.core.scheduler.SchedulerSettings;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.operation.Finding.Level;
import io.lendstream.launcher.operation.RefusedRecords.Letter;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SchedulerDiagnosisTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final KindId L4 = new KindId("L4-24GB");
    private static final Instant BEFORE = NOW.minus(Duration.ofMinutes(2));

    private final SeenPolicies policies = new SeenPolicies();

    private static RefusedRecords rates(long records, long letters, Letter... latest) {
        return new RefusedRecords("request-rates", records, letters, Arrays.asList(latest));
    }

    private static Letter letter(String service, String message) {
        return new Letter(BEFORE, service, "io.lendstream.scheduler.Poison", message);
    }

    private static Letter stopped(Instant at) {
        return new Letter(
                at,
                "scheduler",
                "io.lendstream.scheduler.DomainStoppedException",
                "domain east has been stopped since 11:00 because a tick fails");
    }

    @Test
    void deadLettersAreAWarningAndFailIfTheSchedulerRefusesMostRecords() {
        assertThat(SchedulerDiagnosis.deadLetters(List.of(rates(100, 0))).line())
                .isEqualTo("ok   dead-letters: none in the last hour");
        assertThat(SchedulerDiagnosis.deadLetters(List.of(rates(100, 3, letter("scheduler", "too large"))))
                        .line())
                .startsWith("warn dead-letters: in the last hour 3 of request-rates (the last: too large); read");
        assertThat(SchedulerDiagnosis.deadLetters(
                                List.of(rates(100, 51, letter("scheduler", "5m ahead of this clock"))))
                        .line())
                .startsWith(
                        "FAIL dead-letters: the scheduler refused most of request-rates in the last hour, about 51 of"
                                + " 100 records; the last because: 5m ahead of this clock;");
        assertThat(SchedulerDiagnosis.deadLetters(
                                List.of(rates(100, 60, letter("forecaster", "no"), letter("scheduler", "no"))))
                        .level())
                .as("half of them are another service's")
                .isEqualTo(Level.WARN);
        assertThat(SchedulerDiagnosis.deadLetters(List.of(rates(5, 5, letter("scheduler", "no"))))
                        .level())
                .as("too few to judge by")
                .isEqualTo(Level.WARN);
    }

    @Test
    void aStoppedDomainFailsUntilItsLogGrows() {
        List<RefusedRecords> refused = List.of(rates(10, 1, stopped(BEFORE)));

        assertThat(SchedulerDiagnosis.domains(refused, Set.of("east"), Map.of(), NOW)
                        .line())
                .startsWith(
                        "FAIL domains: domain east has been stopped since 11:00 because a tick fails; correct the record");
        assertThat(SchedulerDiagnosis.domains(refused, Set.of("east"), Map.of("east", BEFORE.minusSeconds(1)), NOW)
                        .level())
                .isEqualTo(Level.FAIL);
        assertThat(SchedulerDiagnosis.domains(refused, Set.of("east"), Map.of("east", BEFORE.plusSeconds(1)), NOW)
                        .line())
                .isEqualTo("ok   domains: the logs of all 1 domain with telemetry grow");
        assertThat(SchedulerDiagnosis.domains(
                                List.of(rates(10, 1, stopped(NOW.minus(Duration.ofMinutes(6))))),
                                Set.of("east"),
                                Map.of("east", NOW),
                                NOW)
                        .level())
                .isEqualTo(Level.OK);
    }

    @Test
    void withoutTelemetryNoDomainIsFine() {
        assertThat(SchedulerDiagnosis.domains(List.of(), Set.of(), Map.of(), NOW)
                        .line())
                .isEqualTo(
                        "warn domains: no node has written telemetry in the last minute, so no domain was checked; start 'lendstream agent' on the nodes");
    }

    @Test
    void aDomainWithTelemetryAndWithoutNewEventsFails() {
        assertThat(SchedulerDiagnosis.domains(List.of(), Set.of("east", "west"), Map.of("west", NOW), NOW)
                        .line())
                .startsWith(
                        "FAIL domains: nodes of east write telemetry, but their log has no new events for minutes;");
    }

    @Test
    void kindsOfGpusAreCountedByDomain() {
        List<InferenceService> none = List.of();
        assertThat(SchedulerDiagnosis.kinds(List.of(lease("g0", "east", Optional.empty())), none, policies)
                        .line())
                .isEqualTo("ok   kinds: not told apart");
        assertThat(SchedulerDiagnosis.kinds(List.of(lease("g0", "east", Optional.of(L4))), none, policies)
                        .line())
                .isEqualTo("ok   kinds: one kind of GPU in each domain");
        assertThat(SchedulerDiagnosis.kinds(twoKinds(), none, policies).line())
                .isEqualTo("ok   kinds: domain east has 1 A100-SXM4-80GB, 2 L4-24GB; each kind is planned apart; the"
                        + " policy of domain east is not known; deepboot and lendstream choose kinds by the speeds that"
                        + " jobs declare");
    }

    private String choice() {
        return SchedulerDiagnosis.kinds(twoKinds(), List.of(), policies).line();
    }

    private void starts(String domain, long epoch, String policy) {
        policies.take(new SchedulerStarted(
                new DomainId(domain), NOW, epoch, policy, SchedulerSettings.DEFAULTS.toMap(), Optional.empty()));
    }

    private static DomainSettings declared(String policy) {
        return new DomainSettings(new DomainId("east"), NOW, Map.of(DeclarableSettings.POLICY, policy));
    }

    @Test
    void onlyAPolicyThatDoesNotChooseKindsBindsAJobToOne() {
        starts("west", 1, "tiresias");
        starts("east", 2, "deepboot");
        starts("east", 1, "tiresias");

        assertThat(choice())
                .as("west has one kind")
                .endsWith(
                        "planned apart; policy deepboot of domain east chooses kinds by the speeds that jobs declare");
        starts("east", 3, "deepboot:kinds=blind");
        assertThat(choice())
                .contains("planned apart; policy deepboot:")
                .endsWith(
                        ":kinds=blind of domain east does not choose kinds: a job stays on one kind while it has GPUs,"
                                + " be it slow or fast there; deepboot and lendstream choose kinds by the speeds that jobs declare");
    }

    @Test
    void theDeclaredPolicyOfADomainCounts() {
        starts("east", 1, "deepboot");
        policies.take(declared("tiresias"));

        assertThat(choice()).contains("; policy tiresias:demote-gpu-hours=16.0 of domain east does not choose kinds: ");
        policies.take(declared("no-such-policy"));
        assertThat(choice()).as("refused by schedulers").contains("; policy tiresias:");
        policies.take(declared("tiresias").removedAt(NOW));
        assertThat(choice()).endsWith("; policy deepboot of domain east chooses kinds by the speeds that jobs declare");
        starts("east", 2, "of-a-newer-version");
        assertThat(choice()).contains("; the policy of domain east is not known; ");
    }

    @Test
    void aServiceThatTakesSeveralKindsAsAlikeIsAWarning() {
        InferenceService alike = service("alike", "east");
        InferenceService fine = service("fine", "east").onKinds(List.of(KindCapacity.of(L4, 5)));

        assertThat(SchedulerDiagnosis.kinds(twoKinds(), List.of(alike, fine, service("far", "west")), policies)
                        .line())
                .isEqualTo("warn kinds: domain east has 1 A100-SXM4-80GB, 2 L4-24GB; these services take all kinds as"
                        + " alike: alike; declare in their capacities what a replica answers on each kind");
        assertThat(SchedulerDiagnosis.kinds(twoKinds(), List.of(fine), policies).line())
                .startsWith("ok   kinds: domain east");
    }

    @Test
    void aServiceWithoutAKindOfItsDomainIsAWarning() {
        InferenceService lost = service("lost", "west").onKinds(List.of(KindCapacity.of(new KindId("T4"), 5)));

        assertThat(SchedulerDiagnosis.kinds(twoKinds(), List.of(lost), policies).line())
                .isEqualTo("warn kinds: no GPU is of a kind that these services declare: lost; write the kinds in their"
                        + " capacities as the leases have them");
    }

    private static List<Lease> twoKinds() {
        return List.of(
                lease("g0", "east", Optional.of(L4)),
                lease("g1", "east", Optional.of(L4)),
                lease("g2", "east", Optional.of(new KindId("A100-SXM4-80GB"))),
                lease("g3", "west", Optional.of(L4)));
    }

    private static InferenceService service(String name, String domain) {
        return new InferenceService(
                new ServiceId(name),
                new DomainId(domain),
                NOW,
                List.of(),
                Duration.ofSeconds(1),
                10,
                Optional.empty(),
                0,
                Duration.ofSeconds(8));
    }

    private static Lease lease(String gpu, String domain, Optional<KindId> kind) {
        return new Lease(
                new GpuId(gpu),
                new NodeId("n"),
                new DomainId(domain),
                Pool.INFERENCE,
                new Owner.Free(),
                1,
                1,
                NOW,
                kind);
    }
}
