package io.lendstream.launcher.operation;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.lendstream.core.decision.Decision;
import io.lendstream.core.event.ActuationReport;
import io.lendstream.core.event.DomainEvent;
import io.lendstream.core.event.Origin;
import io.lendstream.core.event.Timings;
import io.lendstream.core.history.DecisionOutcome;
import io.lendstream.core.history.Explanation;
import io.lendstream.core.id.GpuId;
import io.lendstream.core.scheduler.SafetyRule;
import io.lendstream.core.state.Owner;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.schemas.topics.TopicCatalogue;
import io.lendstream.service.text.Times;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The explanation of a decision, for people and for tools.
 *
 * @param approval the decision made of it, if it is advice
 * @param shortened whether the log was not replayed, by option
 * @param orders commands in force at the time of the decision
 * @param topics names of the topics, which identify groups of operators
 * @param names short names of GPUs
 * @param kept what was kept with the decision, for the case that the log cannot be replayed
 */
record Explained(
        Explanation explanation,
        DecisionOutcome fate,
        ApprovalSearch approval,
        boolean shortened,
        List<DomainEvent> orders,
        TopicCatalogue topics,
        GpuNames names,
        Optional<ExplainedKept> kept) {

    List<String> lines() {
        var lines = new ArrayList<String>();
        decision(lines);
        inputs(lines);
        orders(lines);
        explanation.made().ifPresent(made -> made(lines, made));
        kept.ifPresent(known -> ExplainedAlternatives.add(lines, known.alternatives()));
        fate(lines);
        List<String> named = new ArrayList<>(names.in(lines));
        uuids(named);
        named.add("");
        named.add(verdict());
        return named;
    }

    /** The uuids behind the short names of the decision's GPUs. */
    private void uuids(List<String> lines) {
        List<GpuId> gpus = explanation.changedGpus().stream()
                .filter(gpu -> !names.of(gpu).equals(gpu.value()))
                .sorted(names.order())
                .toList();
        if (!gpus.isEmpty()) {
            lines.add("");
            lines.add("Its GPUs: " + gpus.stream().map(names::detailed).collect(Collectors.joining(", ")));
        }
    }

    private void decision(List<String> lines) {
        Decision decision = explanation.recorded();
        lines.add("%s%s: %s"
                .formatted(
                        decision.id(),
                        decision.advisory() ? " (advice)" : "",
                        decision.isRelease() ? EventText.of(decision) : EventText.of(decision.action())));
        lines.add("  decided %s, due %s".formatted(Times.exact(decision.at()), Times.exact(decision.deadline())));
        lines.add("  reason: %s [%s]"
                .formatted(decision.reason().text(), decision.reason().code()));
        if (!decision.reason().numbers().isEmpty()) {
            lines.add("  numbers: "
                    + decision.reason().numbers().entrySet().stream()
                            .map(number -> number.getKey() + " " + number(number.getValue()))
                            .collect(Collectors.joining(", ")));
        }
    }

    private void inputs(List<String> lines) {
        lines.add("");
        lines.add("Events that led to it:");
        for (DomainEvent event : explanation.inputs()) {
            lines.add("  %d  %s  %s%s  %s"
                    .formatted(
                            event.sequence(),
                            Times.exact(event.at()),
                            EventText.kind(event.event()),
                            event.origin().map(origin -> "  " + origin).orElse(""),
                            gist(event)));
        }
        kept.ifPresent(known -> known.addInputs(lines, explanation.inputs()));
        List<Long> unknown = explanation.missing().stream()
                .filter(sequence -> kept.filter(known -> known.has(sequence)).isEmpty())
                .toList();
        if (!unknown.isEmpty()) {
            lines.add("  not read: %s"
                    .formatted(unknown.stream()
                            .map(sequence -> Long.toString(sequence))
                            .collect(Collectors.joining(", "))));
        }
    }

    private String gist(DomainEvent event) {
        return event.event()
                .asCommand()
                .map(command -> EventText.order(command) + ", "
                        + Orderer.of(command, event.origin(), topics).inWords())
                .orElseGet(() -> EventText.gist(event.event()));
    }

    private void orders(List<String> lines) {
        if (!orders.isEmpty()) {
            lines.add("");
            lines.add("Commands in force:");
            orders.forEach(event ->
                    lines.add("  %d  %s  %s".formatted(event.sequence(), Times.exact(event.at()), gist(event))));
        }
    }

    private static void made(List<String> lines, Explanation.Made made) {
        if (!made.needs().isEmpty()) {
            lines.add("");
            lines.add("Needs of services:");
            made.needs()
                    .forEach((service, need) ->
                            lines.add("  %s: %d (%s)".formatted(service, need.replicas(), need.explained())));
        }
        ExplainedAlternatives.add(lines, made.alternatives());
        made.plannedBy()
                .ifPresent(event ->
                        lines.add("  planned %s, event %d".formatted(Times.exact(event.at()), event.sequence())));
        if (!made.vetoes().isEmpty()) {
            lines.add("");
            lines.add("Planned but not allowed:");
            made.vetoes().forEach((job, why) -> lines.add("  job %s: %s".formatted(job, why)));
        }
        made.job().ifPresent(job -> {
            lines.add("");
            lines.addAll(ExplainedJob.lines(job));
        });
        List<Explanation.Change> changes = made.owners().stream()
                .filter(change -> !owner(change.before()).equals(owner(change.after())))
                .toList();
        if (!changes.isEmpty()) {
            lines.add("");
            lines.add("Owners, before and after:");
            for (Explanation.Change change : changes) {
                lines.add("  %s: %s -> %s".formatted(change.gpu(), owner(change.before()), owner(change.after())));
            }
        }
        if (!made.safetyRules().isEmpty()) {
            lines.add("");
            lines.add("Safety rules:");
            made.safetyRules().forEach(rule -> lines.add("  " + line(rule)));
        }
    }

    private static String line(SafetyRule rule) {
        return rule.broken()
                .map(why -> "not met: %s (%s). Not allowed until then: %s".formatted(rule.rule(), why, rule.forbids()))
                .orElseGet(() -> "met: " + rule.rule());
    }

    private void fate(List<String> lines) {
        lines.add("");
        lines.add("Outcome: " + approval.inWords(fate));
        lines.addAll(ExplainedParts.lines(explanation, fate));
        for (ActuationReport report : fate.reports()) {
            lines.add("  +%.1f s  %s by %s%s%s%s"
                    .formatted(
                            seconds(Duration.between(fate.decision().at(), report.at())),
                            EventText.lower(report.outcome()),
                            report.actuator(),
                            report.gpus().isEmpty() ? "" : ": " + EventText.list(report.gpus()),
                            report.reason().isEmpty() ? "" : " (" + report.reason() + ")",
                            timings(report.timings()).isEmpty()
                                    ? ""
                                    : timings(report.timings()).entrySet().stream()
                                            .map(part -> part.getKey() + " " + part.getValue() + " s")
                                            .collect(Collectors.joining(", ", " [", "]"))));
        }
    }

    private String verdict() {
        if (shortened) {
            return "The log was not replayed (--no-replay). The explanation has only the recorded facts.";
        }
        if (explanation.made().isEmpty() && kept.isPresent()) {
            return kept.get().verdict();
        }
        if (explanation.made().isEmpty()) {
            return "The log could not be replayed: %s. The explanation has only the recorded facts."
                    .formatted(explanation.obstacle().orElse("an unknown reason"));
        }
        String replayed = "Replayed %s with policy %s"
                .formatted(
                        ReplayStart.inWords(explanation.start()),
                        explanation.made().get().policy());
        if (explanation.isInOtherWords()) {
            return replayed + ": the same decision. Another version worded its reason: "
                    + explanation
                            .made()
                            .flatMap(Explanation.Made::again)
                            .orElseThrow()
                            .reason()
                            .text();
        }
        return explanation.isAsRecorded()
                ? replayed + ": equal to the record."
                : "%s: DIFFERENT from the record: %s".formatted(replayed, String.join("; ", explanation.differences()));
    }

    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.set("decision", json(explanation.recorded()));
        ArrayNode inputs = json.putArray("inputs");
        explanation.inputs().forEach(event -> inputs.add(json(event)));
        ArrayNode missing = json.putArray("inputsNotRead");
        explanation.missing().forEach(missing::add);
        ArrayNode commands = json.putArray("commandsInForce");
        orders.forEach(event -> commands.add(json(event)));
        explanation.made().ifPresent(made -> put(json, made));
        json.put("replayed", explanation.made().isPresent());
        kept.ifPresent(known -> known.put(json));
        ObjectNode became = json.putObject("outcome");
        became.put("summary", approval.inWords(fate));
        approval.approvedAs().ifPresent(id -> became.put("approvedAs", id.toString()));
        fate.took().ifPresent(took -> became.put("seconds", seconds(took)));
        ExplainedParts.put(became.putArray("together"), explanation, fate);
        ArrayNode reports = became.putArray("reports");
        fate.reports().forEach(report -> reports.add(json(report)));
        ObjectNode replay = json.putObject("replay");
        replay.put("made", explanation.made().isPresent());
        ReplayStart.put(replay, explanation.start());
        replay.put("equal", explanation.isAsRecorded());
        replay.put("reworded", explanation.isInOtherWords());
        ArrayNode differences = replay.putArray("differences");
        explanation.differences().forEach(differences::add);
        if (explanation.made().isEmpty()) {
            replay.put(
                    "obstacle",
                    shortened ? "not asked for" : explanation.obstacle().orElse(""));
        }
        return json;
    }

    /** A decision with the field names of all files and tools. */
    static ObjectNode json(Decision decision) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("id", decision.id().toString())
                .put("domain", decision.id().domain().value())
                .put("at", decision.at().toString())
                .put("deadline", decision.deadline().toString())
                .put("kind", decision.action().kind())
                .put("countedAs", decision.countedAs())
                .put("target", decision.action().target())
                .set("gpus", names(decision.action().gpus()));
        json.put("reason", decision.reason().text())
                .put("code", decision.reason().code())
                .put("advisory", decision.advisory())
                .put("words", EventText.of(decision.action()));
        ObjectNode numbers = json.putObject("numbers");
        decision.reason().numbers().forEach(numbers::put);
        ArrayNode inputs = json.putArray("inputs");
        decision.reason().inputs().forEach(inputs::add);
        return json;
    }

    private ObjectNode json(DomainEvent event) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("sequence", event.sequence())
                .put("epoch", event.epoch())
                .put("at", event.at().toString())
                .put("kind", EventText.kind(event.event()))
                .put("gist", EventText.gist(event.event()));
        if (event.origin().isPresent()) {
            Origin origin = event.origin().get();
            json.putObject("origin")
                    .put("topic", origin.topic())
                    .put("partition", origin.partition())
                    .put("offset", origin.offset());
        }
        Orderer.of(event, topics).ifPresent(orderer -> orderer.put(json));
        return json;
    }

    private void put(ObjectNode json, Explanation.Made made) {
        json.put("policy", made.policy());
        json.putObject("mode")
                .put("frozen", made.mode().frozen())
                .put("advisory", made.mode().isAdvisory())
                .put("lendingStopped", made.mode().lendingStopped())
                .put("trust", made.mode().level().label());
        ArrayNode needs = json.putArray("needs");
        made.needs()
                .forEach((service, need) ->
                        RoleFigures.putCauses(needs.addObject().put("service", service.value()), need));
        ExplainedAlternatives.put(json.putArray("alternatives"), made.alternatives());
        made.plannedBy().ifPresent(event -> json.set("plannedBy", json(event)));
        ObjectNode vetoes = json.putObject("vetoes");
        made.vetoes().forEach(vetoes::put);
        made.job().ifPresent(job -> ExplainedJob.put(json.putObject("job"), job));
        ArrayNode owners = json.putArray("owners");
        made.owners()
                .forEach(change -> owners.addObject()
                        .put("gpu", change.gpu().value())
                        .put("before", owner(change.before()))
                        .put("after", owner(change.after())));
        putRules(json.putArray("guards"), made);
    }

    private void putRules(ArrayNode rules, Explanation.Made made) {
        made.safetyRules().forEach(rule -> {
            ObjectNode one = rules.addObject();
            one.put("rule", rule.rule())
                    .put("forbids", rule.forbids())
                    .put("kept", rule.broken().isEmpty());
            rule.broken().ifPresent(why -> one.put("why", why));
        });
    }

    private static ObjectNode json(ActuationReport report) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("at", report.at().toString())
                .put("outcome", EventText.lower(report.outcome()))
                .put("actuator", report.actuator())
                .put("reason", report.reason())
                .set("gpus", names(report.gpus()));
        ObjectNode timings = json.putObject("seconds");
        timings(report.timings()).forEach(timings::put);
        return json;
    }

    private static Map<String, Double> timings(Timings timings) {
        Map<String, Double> parts = new TreeMap<>();
        timings.prepare().ifPresent(time -> parts.put("prepare", seconds(time)));
        timings.release().ifPresent(time -> parts.put("release", seconds(time)));
        timings.bind().ifPresent(time -> parts.put("bind", seconds(time)));
        timings.ready().ifPresent(time -> parts.put("ready", seconds(time)));
        timings.pause().ifPresent(time -> parts.put("pause", seconds(time)));
        return parts;
    }

    static ArrayNode names(List<GpuId> gpus) {
        ArrayNode names = JsonNodeFactory.instance.arrayNode();
        gpus.forEach(gpu -> names.add(gpu.value()));
        return names;
    }

    private static String owner(Optional<Owner> owner) {
        return owner.map(EventText::of).orElse("absent");
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1000.0;
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : String.format(Locale.ROOT, "%.3f", value);
    }
}
