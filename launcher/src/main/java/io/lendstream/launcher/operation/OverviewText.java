package io.lendstream.launcher.operation;

import io.lendstream.core.decision.Reason;
import io.lendstream.core.demand.ReplicaNeed;
import io.lendstream.core.state.JobState;
import io.lendstream.core.state.ServiceState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** An {@link Overview} for people. */
final class OverviewText {
    private final Overview overview;
    private final WorkloadFigures figures;

    OverviewText(Overview overview) {
        this.overview = overview;
        this.figures = overview.figures();
    }

    /** For people, the most pressing first. */
    List<String> lines(Instant now) {
        List<String> lines = new ArrayList<>();
        SortedMap<String, Integer> owners = new TreeMap<>();
        overview.leases().forEach(lease -> owners.merge(lease.owner().label(), 1, Integer::sum));
        lines.add("%s  %d GPUs: %s"
                .formatted(EventText.clock(now), overview.leases().size(), counted(owners)));
        section(lines, "ALARMS", overview.alarms(now));
        section(
                lines,
                "SCHEDULERS",
                overview.schedulers().stream().map(OverviewText::line).toList());
        section(
                lines,
                "SERVICES",
                overview.services().stream().map(service -> line(service, now)).toList());
        section(lines, "JOBS", figures.shownJobs().stream().map(this::line).toList());
        List<String> last = new ArrayList<>();
        overview.decisions()
                .descendingIterator()
                .forEachRemaining(decision -> last.add("%s  %s%s: %s, because %s"
                        .formatted(
                                EventText.clock(decision.at()),
                                decision.id(),
                                decision.advisory() ? " (advice)" : "",
                                EventText.of(decision.action()),
                                decision.reason().text())));
        section(lines, "LAST DECISIONS", last);
        section(
                lines,
                "GPUS",
                overview.leases().stream()
                        .map(lease ->
                                "%-24s %-16s %s".formatted(lease.gpuId(), lease.nodeId(), EventText.of(lease.owner())))
                        .toList());
        return lines;
    }

    private static void section(List<String> lines, String title, List<String> content) {
        if (!content.isEmpty()) {
            lines.add("");
            lines.add(title);
            content.forEach(line -> lines.add("  " + line));
        }
    }

    private static String counted(SortedMap<String, Integer> owners) {
        return owners.isEmpty()
                ? "none"
                : String.join(
                        ", ",
                        owners.entrySet().stream()
                                .map(entry -> entry.getValue() + " " + entry.getKey())
                                .toList());
    }

    private String line(ServiceState service, Instant now) {
        return "%-20s %8.1f requests/s%s  needs %s, %d serve, %d warm, %d start"
                .formatted(
                        service.spec().service(),
                        service.arrivalsPerSecond(),
                        WorkloadFigures.peak(service)
                                .map(most -> ", 99 %% under %.1f ahead%s"
                                        .formatted(
                                                most,
                                                WorkloadFigures.gpus(service)
                                                        .map(all -> ", " + Reason.counted(all, "GPU"))
                                                        .orElse("")))
                                .orElse(""),
                        need(service, now),
                        figures.serving(service),
                        figures.warm(service),
                        figures.starting(service));
    }

    private String need(ServiceState service, Instant now) {
        return overview.need(service, now)
                .map(need -> "%d (%d now, %d ahead)".formatted(need.replicas(), need.now(), need.ahead()))
                .orElseGet(() -> {
                    ReplicaNeed least = Overview.leastNeed(service, now);
                    return "at least %d (%d now; its scheduler is not known)".formatted(least.replicas(), least.now());
                });
    }

    private static String line(Overview.InOffice known) {
        return "%-20s policy %s, notice %d s, lending %s"
                .formatted(
                        known.started().domain(),
                        known.scheduler().policy().spec(),
                        known.scheduler().settings().notice().toSeconds(),
                        known.scheduler().settings().lending() ? "on" : "off");
    }

    private String line(JobState job) {
        WorkloadFigures.Held held = figures.held(job);
        return "%-20s %-9s %s, %d lent%s%s"
                .formatted(
                        job.spec().job(),
                        figures.phase(job),
                        Reason.counted(held.gpus(), "GPU"),
                        held.lent(),
                        held.gpus() == 0
                                ? ""
                                : ", goodput %.1f samples/s".formatted(WorkloadFigures.goodput(job, held)),
                        overview.progress(job.spec().job())
                                .map(said -> ", %.0f iterations done".formatted(said.progress()))
                                .orElse(""));
    }
}
