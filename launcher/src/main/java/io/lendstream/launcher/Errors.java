package io.lendstream.launcher;

import io.lendstream.launcher.stack.StackException;
import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.service.UsageErrors;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.settings.SettingsException;
import java.io.PrintWriter;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;

/** How errors reach a user: one line, and a stack trace only where it was asked for. */
final class Errors implements CommandLine.IExecutionExceptionHandler, CommandLine.IParameterExceptionHandler {

    private final BooleanSupplier verbose;

    Errors(BooleanSupplier verbose) {
        this.verbose = verbose;
    }

    @Override
    public int handleExecutionException(Exception error, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter out = command.getErr();
        out.println(oneLine(error));
        if (error instanceof StackException stack) {
            stack.lastLines().forEach(line -> out.println("  | " + line));
        }
        if (verbose.getAsBoolean()) {
            error.printStackTrace(out);
        }
        out.flush();
        if (error instanceof UserError user) {
            return user.exitCode();
        }
        boolean badUsage =
                error instanceof SettingsException || (error instanceof StackException stack && stack.isBadUsage());
        return badUsage ? UserError.BAD_USAGE : UserError.FAILED;
    }

    @Override
    public int handleParseException(CommandLine.ParameterException error, String[] args) {
        PrintWriter out = error.getCommandLine().getErr();
        out.println(UsageErrors.line(error));
        out.flush();
        return UserError.BAD_USAGE;
    }

    private static String oneLine(Exception error) {
        String message = error.getMessage();
        boolean meantForUsers = error instanceof UserError
                || error instanceof StackException
                || error instanceof SettingsException
                || error instanceof UnreachableException
                || error instanceof RegistryException;
        if (message == null || message.isBlank()) {
            return "%s; run it again with --verbose to see where, and please report it.".formatted(simpleName(error));
        }
        return meantForUsers ? firstLine(message) : "%s: %s".formatted(simpleName(error), firstLine(message));
    }

    private static String simpleName(Exception error) {
        return error.getClass().getSimpleName();
    }

    private static String firstLine(String message) {
        return message.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .findFirst()
                .orElse(message);
    }
}
