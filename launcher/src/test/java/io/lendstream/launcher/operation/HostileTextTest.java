package io.lendstream.launcher.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.lendstream.core.decision.Action;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.DecisionId;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.ControlCommand;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.InferenceService;
import io.lendstream.core.event.Node;
import io.lendstream.core.event.NodeStatus;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Outcome;
import io.lendstream.core.event.Timings;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explainer;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.launcher.cluster.ClusterCommand;
import io.lendstream.schemas.topics.TopicCatalogue;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Texts of records reach a terminal as text: top, doctor and explain show control characters as codes. */
class HostileTextTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    /** Clears the screen, sets the title, moves up; the same in 8-bit codes; reverses what follows; breaks lines. */
    private static final String OBEYED =
            "\u001b[2J\u001b]0;gone\u0007\u009b1A\u009d0;x\u009c\u0000\b\u007f\r\n\u202egnp\u2066\u200f\u061c\u2028\uFEFF\uDB40\uDC41\uD800";

    private static final DomainId DOMAIN = new DomainId("domain" + OBEYED);
    private static final ServiceId SERVICE = new ServiceId("service" + OBEYED);
    private static final GpuId GPU = new GpuId("gpu" + OBEYED);
    private static final DecisionId ID = new DecisionId(DOMAIN, 1, 1);
    private static final Decision DECISION = new Decision(
            ID,
            NOW.minusSeconds(3600),
            NOW.minusSeconds(3000),
            false,
            new Reason("code" + OBEYED, "reason" + OBEYED, Map.of("number" + OBEYED, 1.5), List.of(1L)),
            new Action.Serve(SERVICE, List.of(GPU), false));

    /** Prints as every command does. */
    @Command(name = "printer")
    private static final class Printer extends ClusterCommand {
        @Override
        public Integer call() {
            return 0;
        }

        void show(List<String> lines) {
            print(lines);
        }

        void show(JsonNode json) {
            print(json);
        }

        void say(String line) {
            remark(line);
        }
    }

    private final StringWriter terminal = new StringWriter();
    private final Printer printer = printer();

    private Printer printer() {
        Printer made = new Printer();
        new CommandLine(made).setOut(new PrintWriter(terminal)).setErr(new PrintWriter(terminal));
        return made;
    }

    private void assertShown(List<String> lines, String... fields) {
        printer.show(lines);

        assertHarmless(terminal.toString());
        assertThat(terminal.toString().lines()).as("one line each").hasSameSizeAs(lines);
        for (String field : fields) {
            assertThat(terminal.toString()).contains(field + "\\u001b[2J");
        }
    }

    private void assertJson(JsonNode json) throws Exception {
        printer.show(json);

        assertHarmless(terminal.toString());
        // Half of a surrogate pair comes back as it is, for JSON can express it
        var mapper = new ObjectMapper();
        assertThat(mapper.readTree(terminal.toString())).isEqualTo(mapper.readTree(json.toString()));
        assertThat(json.toString()).contains("[2J");
    }

    private static void assertHarmless(String printed) {
        assertThat(printed.codePoints().filter(HostileTextTest::isObeyed).mapToObj(Integer::toHexString))
                .isEmpty();
    }

    private static boolean isObeyed(int point) {
        int type = Character.getType(point);
        return point != '\n'
                && (type == Character.CONTROL
                        || type == Character.FORMAT
                        || type == Character.SURROGATE
                        || type == Character.LINE_SEPARATOR
                        || type == Character.PARAGRAPH_SEPARATOR);
    }

    private static Overview overview() {
        Overview overview = new Overview();
        overview.tell(new Lease(
                GPU,
                new NodeId("node" + OBEYED),
                DOMAIN,
                Pool.INFERENCE,
                new Owner.Quarantined("why" + OBEYED),
                1,
                1,
                NOW,
                Optional.empty()));
        overview.tell(new InferenceService(
                SERVICE,
                DOMAIN,
                NOW,
                List.of(),
                Duration.ofMillis(500),
                12.5,
                Optional.empty(),
                2,
                Duration.ofSeconds(8)));
        overview.decided(DECISION, NOW);
        overview.accepted(new DomainEvent(DOMAIN, 1, 1, NOW, Optional.empty(), command()), TopicCatalogue.standard());
        return overview;
    }

    private static ControlCommand command() {
        return new ControlCommand(
                DOMAIN,
                "id" + OBEYED,
                NOW,
                "issuer" + OBEYED,
                ControlCommand.Kind.FREEZE,
                Optional.empty(),
                List.of(),
                "order" + OBEYED);
    }

    @Test
    void topShowsNamesAndReasonsAsText() {
        assertShown(overview().lines(NOW, false), "gpu", "node", "why", "service", "reason", "domain");
    }

    @Test
    void topOnATerminalShowsThemWithinItsColumns() {
        List<String> screen = TopCommand.screen(overview().lines(NOW, false));

        assertHarmless(String.join("\n", screen));
        assertThat(screen).allMatch(line -> line.length() <= 160).anyMatch(line -> line.contains("\\u001b[2J"));
    }

    @Test
    void topShowsToolsTheSame() throws Exception {
        assertJson(overview().json(NOW));
    }

    private static List<Finding> findings() {
        Node ailing = new Node(
                new NodeId("node" + OBEYED),
                DOMAIN,
                Pool.INFERENCE,
                "boot" + OBEYED,
                NOW,
                NodeStatus.UNAVAILABLE,
                List.of(),
                Optional.empty(),
                1,
                "ailing" + OBEYED);
        var stopped = new RefusedRecords.Letter(NOW, "scheduler", "x.DomainStoppedException", "stopped" + OBEYED);
        var refused = new RefusedRecords("topic" + OBEYED, 5, 5, List.of(stopped));
        return List.of(
                SchedulerDiagnosis.deadLetters(List.of(refused)),
                SchedulerDiagnosis.deadLetters(
                        List.of(new RefusedRecords("topic" + OBEYED, 500, 500, List.of(stopped)))),
                SchedulerDiagnosis.domains(List.of(refused), Set.of(), Map.of(), NOW),
                SchedulerDiagnosis.domains(List.of(), Set.of("silent" + OBEYED), Map.of(), NOW),
                Diagnosis.inventories(List.of(ailing)),
                ActuatorDiagnosis.actuators(
                        List.of(DECISION), Set.of(), ActuatorDiagnosis.Liveness.ALIVE, Decision::at, NOW),
                ActuatorDiagnosis.alive(Map.of(), Map.of("actuator" + OBEYED, NOW.minusSeconds(36_000)), true, NOW),
                Diagnosis.clocks(Map.of("clock" + OBEYED, Duration.ofHours(1))),
                Diagnosis.quarantine(
                        List.of(new Lease(
                                GPU,
                                new NodeId("node" + OBEYED),
                                DOMAIN,
                                Pool.INFERENCE,
                                new Owner.Quarantined("why" + OBEYED),
                                1,
                                1,
                                NOW,
                                Optional.empty())),
                        new GpuNames()),
                DriverChecks.webhook("http://host" + OBEYED));
    }

    @Test
    void doctorShowsRefusedRecordsAndProblemsAsText() {
        assertShown(
                findings().stream().map(Finding::line).toList(),
                "topic",
                "stopped",
                "silent",
                "node",
                "ailing",
                "domain",
                "actuator",
                "clock",
                "gpu",
                "why",
                "host");
    }

    @Test
    void doctorShowsToolsTheSame() throws Exception {
        var all = new ObjectMapper().createArrayNode();
        findings().forEach(finding -> all.add(finding.json()));

        assertJson(all);
    }

    private static Explained explained() {
        Explainer explainer = new Explainer(DECISION);
        DomainEvent ordered =
                new DomainEvent(DOMAIN, 1, 1, NOW, Optional.of(new Origin("origin" + OBEYED, 0, 7)), command());
        explainer.take(ordered);
        ActuationReport report = new ActuationReport(
                DOMAIN,
                ID,
                "actuator" + OBEYED,
                NOW,
                Outcome.FAILED,
                List.of(GPU),
                Optional.empty(),
                Timings.NONE,
                "detail" + OBEYED);
        return new Explained(
                explainer.explanation(),
                DecisionOutcome.of(DECISION, List.of(report), NOW),
                new ApprovalSearch(ID),
                true,
                List.of(ordered),
                TopicCatalogue.standard(),
                new GpuNames(),
                Optional.empty());
    }

    @Test
    void explainShowsReasonsAndReportsAsText() {
        assertShown(
                explained().lines(),
                "domain",
                "service",
                "gpu",
                "reason",
                "code",
                "number",
                "issuer",
                "order",
                "origin",
                "actuator",
                "detail");
    }

    @Test
    void explainShowsToolsTheSame() throws Exception {
        assertJson(explained().json());
    }

    @Test
    void remarksAreText() {
        printer.say("topic" + OBEYED);

        assertHarmless(terminal.toString());
        assertThat(terminal.toString().lines()).hasSize(1);
    }
}
