package io.lendstream.launcher.demo;

import io.lendstream.core.decision.Decision;
import io.lendstream.launcher.demo.LiveState.ServiceLine;
import io.lendstream.launcher.demo.LiveState.Snapshot;
import io.lendstream.service.text.Printable;
import io.lendstream.service.text.Times;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Shows the state of a demo: a table that is redrawn on a terminal, single lines elsewhere. */
final class Screen {
    /** The width of the page, and of terminals of unknown width. */
    private static final int WIDTH = 110;

    private static final int HEIGHT = 50;

    private static final int LABELS = 11;
    private static final int MOST_STRIP_LINES = 6;
    private static final String GAP = "   ";
    private static final int SERVICES_SHOWN = 8;
    private static final List<Map.Entry<String, String>> GROUPS = List.of(
            Map.entry("training", "T"),
            Map.entry("lent", "L"),
            Map.entry("serving", "S"),
            Map.entry("warm", "w"),
            Map.entry("starting", "s"),
            Map.entry("moving", "~"),
            Map.entry("free", "."),
            Map.entry("foreign", "f"),
            Map.entry("quarantined", "X"));

    private final PrintStream out;
    private final boolean terminal;
    private final String title;
    private final int width;
    private final int height;
    private int drawn;

    Screen(PrintStream out, boolean terminal, String title) {
        this(
                out,
                terminal,
                title,
                told(System.getProperty("lendstream.columns"), WIDTH),
                told(System.getProperty("lendstream.rows"), HEIGHT));
    }

    /**
     * A screen.
     *
     * @param width characters in a line; longer lines are cut, as wrapped lines cannot be redrawn
     * @param height lines of the terminal; further lines are left out, as scrolled lines cannot be redrawn
     */
    Screen(PrintStream out, boolean terminal, String title, int width, int height) {
        this.out = out;
        this.terminal = terminal;
        this.title = title;
        this.width = width;
        this.height = height;
    }

    /** A size that the terminal reported, or the default if the report is invalid. */
    static int told(@Nullable String told, int otherwise) {
        return told != null && told.matches("[1-9][0-9]{1,3}") ? Integer.parseInt(told) : otherwise;
    }

    boolean isTerminal() {
        return terminal;
    }

    /** Shows a moment. */
    void show(Snapshot snapshot, Duration elapsed) {
        if (!terminal) {
            out.println(line(snapshot, elapsed));
            return;
        }
        List<String> table = table(snapshot, elapsed);
        List<String> lines = table.subList(0, Math.min(table.size(), height - 1));
        StringBuilder text = new StringBuilder();
        if (drawn > 0) {
            text.append("\u001b[").append(drawn).append('A');
        }
        lines.forEach(line -> text.append("\u001b[2K").append(line).append('\n'));
        text.append("\u001b[J");
        drawn = lines.size();
        out.print(text);
        out.flush();
    }

    /** The moment in one line. */
    static String line(Snapshot snapshot, Duration elapsed) {
        return "%s  %s  GPUs: training %d, lent %d, serving %d, warm %d, free %d, moving %d | jobs: %d running, %d queued, %d done | %d lends, %d reclaims, %d releases, %.1f GPU-h lent"
                .formatted(
                        clock(elapsed),
                        snapshot.now().map(Screen::at).orElse("no virtual time yet"),
                        snapshot.owned("training"),
                        snapshot.owned("lent"),
                        snapshot.owned("serving"),
                        snapshot.owned("warm"),
                        snapshot.owned("free"),
                        snapshot.owned("moving") + snapshot.owned("starting"),
                        snapshot.jobs("running"),
                        snapshot.jobs("queued"),
                        snapshot.jobs("done"),
                        snapshot.decided("lend"),
                        snapshot.decided("reclaim"),
                        snapshot.decided(Decision.RELEASE),
                        snapshot.gpuHoursLent());
    }

    /** The moment as a table. */
    List<String> table(Snapshot snapshot, Duration elapsed) {
        List<String> lines = new ArrayList<>();
        lines.add(title);
        lines.add("%s   %s"
                .formatted(snapshot.now().map(Screen::at).orElse("no virtual time yet"), pace(snapshot, elapsed)));
        lines.add("");
        lines.addAll(gpus(snapshot));
        lines.add("           " + legend(snapshot));
        lines.add("Training   %d running, %d queued, %d done%s"
                .formatted(
                        snapshot.jobs("running"),
                        snapshot.jobs("queued"),
                        snapshot.jobs("done"),
                        snapshot.jobs("failed") > 0 ? ", %d failed".formatted(snapshot.jobs("failed")) : ""));
        lines.add("Loans      %d GPUs now, %.1f GPU-h lent; %d lends, %d reclaims, %d releases by ended jobs"
                .formatted(
                        snapshot.lentGpus(),
                        snapshot.gpuHoursLent(),
                        snapshot.decided("lend"),
                        snapshot.decided("reclaim"),
                        snapshot.decided(Decision.RELEASE)));
        lines.add("");
        lines.add("%-22s %12s %25s %10s %8s"
                .formatted("Service", "demand/s", "forecast p50 .. p99", "replicas", "queue"));
        snapshot.services().stream().limit(SERVICES_SHOWN).map(Screen::service).forEach(lines::add);
        if (snapshot.services().size() > SERVICES_SHOWN) {
            lines.add("  and %d more".formatted(snapshot.services().size() - SERVICES_SHOWN));
        }
        lines.add("");
        lines.add("Last decisions (virtual time, UTC)");
        snapshot.last().forEach(decision -> lines.add(decision(decision)));
        return lines.stream().map(Printable::line).map(this::cut).toList();
    }

    private static String service(ServiceLine service) {
        String ahead = service.p50().isPresent() && service.p99().isPresent()
                ? "%.1f .. %.1f".formatted(service.p50().get(), service.p99().get())
                : "none yet";
        return "%-22s %12.2f %25s %10d %8d"
                .formatted(
                        service.name(), service.requestsPerSecond(), ahead, service.replicas(), service.queueDepth());
    }

    private static String decision(Decision decision) {
        return "  %s %-8s %-18s %2d %s  %s"
                .formatted(
                        Times.column(decision.at()),
                        decision.countedAs(),
                        decision.action().target(),
                        decision.action().gpus().size(),
                        decision.action().gpus().size() == 1 ? "GPU " : "GPUs",
                        decision.reason().text());
    }

    /** The GPUs by node and index if they fit into a few lines, else a bar of all GPUs by use. */
    private List<String> gpus(Snapshot snapshot) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (LiveState.NodeStrip node : snapshot.nodes()) {
            String strip = node.node() + " "
                    + node.groups().stream().map(Screen::letter).collect(Collectors.joining());
            if (line.length() > 0 && LABELS + line.length() + GAP.length() + strip.length() > Math.min(WIDTH, width)) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.length() > 0 ? GAP : "").append(strip);
        }
        lines.add(line.toString());
        if (snapshot.nodes().isEmpty() || lines.size() > MOST_STRIP_LINES) {
            lines = List.of(bar(snapshot));
        }
        List<String> labelled = new ArrayList<>();
        lines.forEach(each -> labelled.add((labelled.isEmpty() ? "GPUs       " : " ".repeat(LABELS)) + each));
        return labelled;
    }

    private static String letter(String group) {
        return GROUPS.stream()
                .filter(known -> known.getKey().equals(group))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("?");
    }

    private String bar(Snapshot snapshot) {
        int all =
                snapshot.owners().values().stream().mapToInt(Integer::intValue).sum();
        int most = Math.min(WIDTH, width) - LABELS;
        double scale = all > most ? (double) most / all : 1;
        StringBuilder bar = new StringBuilder();
        for (Map.Entry<String, String> group : GROUPS) {
            bar.append(group.getValue().repeat((int) Math.round(snapshot.owned(group.getKey()) * scale)));
        }
        return bar.toString();
    }

    private static String legend(Snapshot snapshot) {
        List<String> parts = new ArrayList<>();
        for (Map.Entry<String, String> group : GROUPS) {
            if (snapshot.owned(group.getKey()) > 0) {
                parts.add("%s %s %d".formatted(group.getValue(), group.getKey(), snapshot.owned(group.getKey())));
            }
        }
        return String.join("   ", parts);
    }

    private static String pace(Snapshot snapshot, Duration elapsed) {
        if (snapshot.started().isEmpty() || snapshot.now().isEmpty()) {
            return "%s elapsed, waiting for the first event".formatted(clock(elapsed));
        }
        Duration played =
                Duration.between(snapshot.started().get(), snapshot.now().get());
        return "%s played in %s".formatted(clock(played), clock(elapsed));
    }

    static String clock(Duration duration) {
        return duration.toHours() > 0
                ? "%d:%02d:%02d".formatted(duration.toHours(), duration.toMinutesPart(), duration.toSecondsPart())
                : "%02d:%02d".formatted(duration.toMinutes(), duration.toSecondsPart());
    }

    /** A virtual time. */
    static String at(Instant time) {
        return Times.at(time, true);
    }

    private String cut(String line) {
        return line.length() <= width ? line : line.substring(0, width - 1) + "…";
    }
}
