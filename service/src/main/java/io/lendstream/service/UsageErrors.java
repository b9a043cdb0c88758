package io.lendstream.service;

import io.lendstream.service.text.Printable;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Texts for a wrong command line: one line with the error and where to find help. */
public final class UsageErrors {
    private UsageErrors() {}

    /** The line. */
    public static String line(ParameterException failure) {
        CommandLine command = failure.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        if (failure instanceof UnmatchedArgumentException unmatched) {
            String first = unmatched.getUnmatched().get(0);
            if (!first.startsWith("-")) {
                return command.getSubcommands().isEmpty()
                        ? "%s takes no argument '%s'; see %s --help.".formatted(name, first, name)
                        : "there is no command '%s'; %s --help lists them.".formatted(first, name);
            }
            List<String> near = unmatched.getSuggestions();
            return near.isEmpty()
                    ? "there is no option '%s'; see %s --help.".formatted(first, name)
                    : "there is no option '%s'; did you mean %s? See %s --help.".formatted(first, near.get(0), name);
        }
        String message = Printable.firstLine(String.valueOf(failure.getMessage()));
        return "%s%s see %s --help.".formatted(message, message.endsWith(".") ? "" : ";", name);
    }
}
