package io.lendstream.launcher.cli;

import io.lendstream.service.settings.Nearest;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import picocli.CommandLine;

/** Checks that the commands on a command line exist, whatever options follow them. */
public final class CommandNames {
    private static final int MOST_SUGGESTIONS = 3;

    private CommandNames() {}

    /** The error for the first name that is no command, with the nearest names; empty if all are commands. */
    public static Optional<String> unknown(CommandLine root, String... arguments) {
        CommandLine command = root;
        for (String argument : arguments) {
            if (argument.startsWith("-")) {
                continue; // options of groups have no values
            }
            if (command.getSubcommands().isEmpty()) {
                return Optional.empty();
            }
            CommandLine next = command.getSubcommands().get(argument);
            if (next == null) {
                return Optional.of(error(command, argument));
            }
            command = next;
        }
        return Optional.empty();
    }

    private static String error(CommandLine group, String argument) {
        List<String> near =
                Nearest.all(argument, new TreeSet<>(group.getSubcommands().keySet()), MOST_SUGGESTIONS);
        String help = group.getCommandSpec().qualifiedName() + " --help";
        return near.isEmpty()
                ? "there is no command '%s'; '%s' lists the commands.".formatted(argument, help)
                : "there is no command '%s'; did you mean %s? '%s' lists the commands."
                        .formatted(argument, Nearest.listed(near), help);
    }
}
