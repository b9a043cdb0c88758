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

/** A command about a cluster, with output for people or for tools. */
public abstract class ClusterCommand implements Callable<Integer> {
    @Mixin
    private ClusterOptions options = new ClusterOptions();

    @Mixin
    private OutputOptions output = new OutputOptions();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** The cluster of the options. */
    protected final Cluster cluster() {
        return options.read();
    }

    /** The file of settings in the options. */
    protected final Optional<Path> config() {
        return options.config();
    }

    /** Whether to print JSON. */
    protected final boolean json() {
        return output.json();
    }

    /** The writer for results. */
    protected final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** Prints JSON. */
    protected final void print(JsonNode json) {
        out().println(OutputOptions.write(json));
        out().flush();
    }

    /** Prints lines, with control characters escaped. */
    protected final void print(List<String> lines) {
        lines.stream().map(Printable::line).forEach(out()::println);
        out().flush();
    }

    /**
     * Prints items.
     *
     * @param json all items as JSON
     * @param lines one item as lines
     */
    final <T> void show(List<T> things, Function<List<T>, JsonNode> json, Function<T, List<String>> lines) {
        if (json()) {
            print(json.apply(things));
        } else {
            things.forEach(thing -> print(lines.apply(thing)));
        }
    }

    /** Prints a remark to standard error. */
    protected final void remark(String line) {
        PrintWriter err = spec.commandLine().getErr();
        err.println(Printable.line(line));
        err.flush();
    }
}
