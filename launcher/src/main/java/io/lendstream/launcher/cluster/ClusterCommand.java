package io.lendstream.launcher.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.service.text.Printable;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command about a cluster, which shows what it finds to people or to tools. */
public abstract class ClusterCommand implements Callable<Integer> {
    @Mixin
    private ClusterOptions options = new ClusterOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** The cluster that was named. */
    protected final Cluster cluster() {
        return options.read();
    }

    /** The file of settings that was named. */
    protected final Optional<Path> config() {
        return options.config();
    }

    /** Whether tools read what is printed. */
    protected final boolean json() {
        return output.json();
    }

    /** Where results go. */
    protected final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** Prints one thing, for tools. */
    protected final void print(JsonNode json) {
        out().println(OutputOptions.write(json));
        out().flush();
    }

    /** Prints lines, for people; what a terminal would obey in names is shown. */
    protected final void print(List<String> lines) {
        lines.stream().map(Printable::line).forEach(out()::println);
        out().flush();
    }

    /**
     * Prints things.
     *
     * @param json all of them, for tools
     * @param lines of one of them, for people
     */
    final <T> void show(List<T> things, Function<List<T>, JsonNode> json, Function<T, List<String>> lines) {
        if (json()) {
            print(json.apply(things));
        } else {
            things.forEach(thing -> print(lines.apply(thing)));
        }
    }

    /** Says something beside what is shown. */
    protected final void remark(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(Printable.line(line));
        err.flush();
    }
}
