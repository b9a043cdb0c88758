package io.lendstream.launcher.cli;

import io.lendstream.service.OutputDirectory;
import java.nio.file.Path;

/** Bounds of options that several commands have. */
public final class Bounds {
    private Bounds() {}

    public static void check(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw UserError.badUsage("%s is %d, but must be from %d to %d.".formatted(name, value, least, most));
        }
    }

    /**
     * Training and inference need at least one node each.
     *
     * @param name the option or field of training's nodes
     */
    public static void checkTrainingNodes(String name, int training, int nodes) {
        if (training < 1 || training > nodes - 1) {
            throw UserError.badUsage(
                    "%s is %d, but must leave training and inference at least one node each of %d (--nodes); leave it out for half of them."
                            .formatted(name, training, nodes));
        }
    }

    /** Checks the output directory before the work begins. */
    public static void checkOut(Path out) {
        if (out.toString().isEmpty()) {
            throw UserError.badUsage("--out is '', but must be a directory; name one, or . for the current directory.");
        }
        OutputDirectory.obstacle(out).ifPresent(obstacle -> {
            throw UserError.badUsage("--out is %s, but %s; name another directory.".formatted(out, obstacle));
        });
    }
}
