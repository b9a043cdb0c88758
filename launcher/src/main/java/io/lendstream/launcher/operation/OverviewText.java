package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Decision;
import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.Lease;
import io.lendstream.core.state.ServiceState;
import io.lendstream.launcher.cli.GpuNames;
import io.lendstream.service.text.Times;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** An {@link Overview} for people. */
final class OverviewText {
    private final Overview overview;
    private final WorkloadFigures figures;
    private final GpuNames names;

    OverviewText(Overview overview) {
        this.overview = overview;
        this.figures = overview.figures();
        this.names = overview.names();
    }

    /** The overview, the most urgent first. */
    List<String> lines(Instant now, boolean virtual) {
        List<String> lines = new ArrayList<>();
        lines.add("%s  %d GPUs: %s"
                .formatted(Times.at(now, virtual), overview.leases().size(), counted(overview.leases())));
        section(lines, "ALARMS", names.in(overview.alarms(now)));
        section(
                lines,
                "SCHEDULERS",
                overview.schedulers().stream().map(this::line).toList());
        section(
                lines,
                "SERVICES",
                overview.services().stream().map(service -> line(service, now)).toList());
        section(lines, "QUEUES", overview.queues().lines(overview.ledgers()));
        section(lines, "ACTUATORS", overview.described().lines());
        section(lines, "JOBS", figures.shownJobs().stream().map(this::line).toList());
        List<String> last = new ArrayList<>();
        overview.decisions().descendingIterator().forEachRemaining(decision -> last.add(line(decision)));
        section(lines, "LAST DECISIONS (UTC%s)".formatted(virtual ? ", virtual" : ""), last);
        section(lines, "GPUS", gpus());
        return lines;
    }

    private static void section(List<String> lines, String title, List<String> content) {
        if (!content.isEmpty()) {
            lines.add("");
            lines.add(title);
            content.forEach(line -> lines.add("  " + line));
        }
    }

    private static String counted(Collection<Lease> leases) {
        SortedMap<String, Integer> owners = new TreeMap<>();
        leases.forEach(lease -> owners.merge(lease.owner().label(), 1, Integer::sum));
        return owners.isEmpty()
                ? "none"
                : owners.entrySet().stream()
                        .map(entry -> entry.getValue() + " " + entry.getKey())
                        .collect(Collectors.joining(", "));
    }

    /** The GPUs by node and index, below a line with the sums of their node. */
    private List<String> gpus() {
        Map<String, List<Lease>> byNode = new LinkedHashMap<>();
        overview.leases().stream()
                .sorted(Comparator.comparing((Lease lease) -> GpuNames.sortable(lease.nodeId()))
                        .thenComparing(Lease::gpuId, names.order()))
                .forEach(lease -> byNode.computeIfAbsent(lease.nodeId().value(), node -> new ArrayList<>())
                        .add(lease));
        UnitParts parts = overview.parts();
        List<String> lines = new ArrayList<>();
        byNode.forEach((node, leases) -> {
            lines.add("%s  %s%s: %s"
                    .formatted(node, Reason.counted(leases.size(), "GPU"), kinds(leases), counted(leases)));
            leases.forEach(lease -> lines.add(
                    "  %-22s %s%s".formatted(names.of(lease.gpuId()), EventText.of(lease), parts.after("; ", lease))));
        });
        return lines;
    }

    /** The kinds of GPUs, such as {@code (8 Tesla-T4-16GB)}; nothing if none is known. */
    private static String kinds(Collection<Lease> leases) {
        SortedMap<KindId, Integer> kinds = new TreeMap<>();
        leases.forEach(lease -> lease.kind().ifPresent(kind -> kinds.merge(kind, 1, Integer::sum)));
        return inWords(kinds);
    }

    private static String inWords(SortedMap<KindId, Integer> kinds) {
        return kinds.isEmpty()
                ? ""
                : kinds.entrySet().stream()
                        .map(entry -> entry.getValue() + " " + entry.getKey())
                        .collect(Collectors.joining(", ", " (", ")"));
    }

    private String line(Decision decision) {
        return "%s  %s%s: %s"
                .formatted(
                        Times.column(decision.at()),
                        decision.id(),
                        decision.advisory() ? " (advice)" : "",
                        names.in(EventText.of(decision)));
    }

    String line(ServiceState service, Instant now) {
        return "%-20s %8.1f requests/s  %s%s; %d serving, %d warm, %d starting%s%s"
                .formatted(
                        service.spec().service(),
                        service.arrivalsPerSecond(),
                        need(service, now),
                        overview.need(service, now)
                                .map(need -> RoleFigures.inWords(need, figures.servingByRole(service)))
                                .orElse(""),
                        figures.serving(service),
                        figures.warm(service),
                        figures.starting(service),
                        inWords(figures.replicasByKind(service)),
                        forecast(service, now));
    }

    /** The need on which the scheduler acts. */
    private String need(ServiceState service, Instant now) {
        return overview.need(service, now).map(OverviewText::text).orElseGet(() -> {
            ReplicaNeed least = Overview.leastNeed(service, now);
            return "needs at least %d (%d for the current load; its scheduler is unknown)"
                    .formatted(least.replicas(), least.now());
        });
    }

    private static String text(ReplicaNeed need) {
        if (need.isAhead()) {
            return "needs %d (%d for the current load, %d %s)"
                    .formatted(
                            need.replicas(),
                            need.now(),
                            need.ahead(),
                            need.isByForecast() ? "expected" : "by the peak of the last 10 minutes");
        }
        return need.floor() > need.now()
                ? "needs %d (its floor; %d for the current load)".formatted(need.replicas(), need.now())
                : "needs %d (current load)".formatted(need.replicas());
    }

    /** The forecast, and why it is not used. */
    private String forecast(ServiceState service, Instant now) {
        return WorkloadFigures.peak(service)
                .map(most -> "; forecast %.1f requests/s%s (p99)%s"
                        .formatted(
                                most,
                                WorkloadFigures.gpus(service)
                                        .map(all -> ", " + Reason.counted(all, "GPU"))
                                        .orElse(""),
                                overview.policyWithoutForecast(service)
                                        .map(", not used by "::concat)
                                        .orElse(
                                                WorkloadFigures.hasFreshForecast(service, now)
                                                        ? ""
                                                        : ", too old: not used")))
                .orElse("");
    }

    private String line(Overview.InOffice known) {
        DomainId domain = known.started().domain();
        StandingCommands commands = overview.commands();
        return "%-20s policy %s, notice %d s, lending %s%s%s%s"
                .formatted(
                        domain,
                        known.scheduler().policy().spec(),
                        known.scheduler().settings().notice().toSeconds(),
                        commands.lending(domain, known.scheduler().settings().lending()),
                        commands.isAdvisory(domain) ? " (advisory: only advice)" : "",
                        overview.trust()
                                .level(domain)
                                .map(level -> ", trust %s%s"
                                        .formatted(level, SeenTrust.isAdvice(level) ? " ('lendstream trust')" : ""))
                                .orElse(""),
                        known.declared().isEmpty()
                                ? ""
                                : "; declared for the domain: %s ('lendstream describe domainsettings %s')"
                                        .formatted(
                                                String.join(
                                                        ", ", known.declared().keySet()),
                                                domain));
    }

    String line(JobState job) {
        WorkloadFigures.Held held = figures.held(job);
        return "%-20s %-9s %s, %d lent%s%s%s"
                .formatted(
                        job.spec().job(),
                        figures.phase(job),
                        Reason.counted(held.gpus(), "GPU"),
                        held.lent(),
                        held.gpus() == 0 ? "" : ", goodput " + goodput(job, held),
                        overview.progress(job.spec().job())
                                .map(said -> ", %.0f iterations done".formatted(said.progress()))
                                .orElse(""),
                        held.gpus() > 0
                                ? ""
                                : overview.refusal(job.spec().job())
                                        .map("; "::concat)
                                        .orElse(""));
    }

    private String goodput(JobState job, WorkloadFigures.Held held) {
        return switch (figures.known(job)) {
            case MEASURED -> "%.1f samples/s".formatted(WorkloadFigures.goodput(job, held));
            case ESTIMATED ->
                "%.1f samples/s (estimated by its profile: no step reported)"
                        .formatted(WorkloadFigures.goodput(job, held));
            case UNKNOWN -> "unknown (no profile, and no step reported)";
        };
    }
}
