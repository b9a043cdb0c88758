package io.lendstream.benchmarks.audit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./dev audit}. Exits with 1 if a finding is not accepted, and with 2 for invalid usage. */
@Command(name = "audit")
public final class AuditMain implements java.util.concurrent.Callable<Integer> {
    @Option(names = "--bom", required = true)
    private Path bill = Path.of("target/bom.json");

    @Option(names = "--jars")
    private List<Path> jars = new ArrayList<>();

    @Option(names = "--accepted", required = true)
    private Path accepted = Path.of(".ci/accepted-findings.txt");

    @Option(names = "--db", paramLabel = "DIR")
    private Optional<Path> database = Optional.empty();

    private final Consumer<String> out;

    AuditMain(Consumer<String> out) {
        this.out = out;
    }

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new AuditMain(System.out::println)).execute(arguments));
    }

    @Override
    public Integer call() {
        try {
            return audit();
        } catch (IOException | IllegalArgumentException e) {
            out.accept(e instanceof IOException ? "cannot be read: " + e.getMessage() : String.valueOf(e.getMessage()));
            return CommandLine.ExitCode.USAGE;
        }
    }

    private int audit() throws IOException {
        Set<Component> components = new TreeSet<>(Component.ofBill(bill));
        for (Path directory : jars) {
            components.addAll(Component.ofJars(directory));
        }
        List<Accepted> known = Accepted.read(accepted);
        if (database.isEmpty() || !Files.isDirectory(database.get())) {
            out.accept(
                    "skipped: %d components were not checked, as there is no database; unpack or put https://osv-vulnerabilities.storage.googleapis.com/Maven/all.zip into a directory, and name it with --db DIR"
                            .formatted(components.size()));
            return 0;
        }
        Database advisories = Database.read(database.get());
        if (advisories.advisories().isEmpty()) {
            out.accept(
                    "--db names %s, which has no advisory about Maven packages; it must have JSON files of osv.dev, or zips of them."
                            .formatted(database.get()));
            return 2;
        }
        return judge(components, advisories, known);
    }

    private int judge(Set<Component> components, Database database, List<Accepted> known) {
        var used = new LinkedHashSet<Accepted>();
        int found = 0;
        int excused = 0;
        for (Component component : components) {
            for (Advisory advisory : database.advisories()) {
                if (advisory.affects(component)) {
                    Optional<Accepted> reason = known.stream()
                            .filter(each -> each.covers(advisory, component))
                            .findFirst();
                    reason.ifPresent(used::add);
                    found += reason.isEmpty() ? 1 : 0;
                    excused += reason.isPresent() ? 1 : 0;
                    out.accept("%s: %s %s: %s%s"
                            .formatted(
                                    reason.isEmpty() ? "FOUND" : "accepted",
                                    component,
                                    String.join(" ", advisory.ids()),
                                    advisory.summary(),
                                    reason.map(each -> " (" + each.reason() + ")")
                                            .orElse("")));
                }
            }
        }
        known.stream()
                .filter(each -> !used.contains(each))
                .forEach(each -> out.accept(
                        "not found any more: %s %s; take it out of %s".formatted(each.id(), each.name(), accepted)));
        out.accept("%d components, %d advisories: %d found, %d accepted"
                .formatted(components.size(), database.advisories().size(), found, excused));
        if (found > 0) {
            out.accept(
                    "Raise the version in pom.xml, or accept the finding with its reason in %s.".formatted(accepted));
        }
        return found > 0 ? 1 : 0;
    }
}
