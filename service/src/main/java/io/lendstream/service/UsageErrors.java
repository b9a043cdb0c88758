package io.lendstream.service;

import io.lendstream.service.settings.Nearest;
import io.lendstream.service.text.Printable;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Texts for a wrong command line: one line with the error and where to find help. */
public final class UsageErrors {
    private static final int MOST_SUGGESTIONS = 3;

    private UsageErrors() {}

    /** The line. */
    public static String line(ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        Optional<String> unknown = unknown(failure, command);
        if (unknown.isPresent()) {
            return line(command, name, unknown.get());
        }
        String message = Printable.firstLine(String.valueOf(failure.getMessage()));
        return "%s%s see %s --help.".formatted(message, message.endsWith(".") ? "" : ";", name);
    }

    /**
     * The first argument that the command does not know. An unknown option counts before missing ones: it may be one of
     * them, misspelled.
     */
    private static Optional<String> unknown(ParameterException failure, CommandLine command) {
        if (failure instanceof UnmatchedArgumentException unmatched) {
            return unmatched.getUnmatched().stream().findFirst();
        }
        return failure instanceof MissingParameterException
                ? command.getUnmatchedArguments().stream()
                        .filter(UsageErrors::isOption)
                        .findFirst()
                : Optional.empty();
    }

    private static boolean isOption(String argument) {
        return argument.startsWith("-");
    }

    private static String line(CommandLine command, String name, String unknown) {
        if (!isOption(unknown)) {
            return command.getSubcommands().isEmpty()
                    ? "%s takes no argument '%s'; see %s --help.".formatted(name, unknown, name)
                    : "there is no command '%s'; %s --help lists them.".formatted(unknown, name);
        }
        String option = unknown.split("=", 2)[0];
        List<String> known = command.getCommandSpec().options().stream()
                .filter(each -> !each.hidden())
                .flatMap(each -> Stream.of(each.names()))
                .filter(each -> each.startsWith("--") == option.startsWith("--"))
                .toList();
        List<String> near = Nearest.all(option, known, MOST_SUGGESTIONS);
        return near.isEmpty()
                ? "there is no option '%s'; see %s --help.".formatted(option, name)
                : "there is no option '%s'; did you mean %s? See %s --help."
                        .formatted(option, Nearest.listed(near), name);
    }
}
