package io.lendstream.launcher.cli;

import io.lendstream.schemas.registry.RegistryException;
import io.lendstream.service.UsageErrors;
import io.lendstream.service.kafka.UnreachableException;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.text.FileErrors;
import io.lendstream.service.text.Printable;
import io.lendstream.stack.StackException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.function.BooleanSupplier;
import picocli.CommandLine;

/** Shows errors to users: one line, and with --verbose a stack trace. */
public final class Errors implements CommandLine.IExecutionExceptionHandler, CommandLine.IParameterExceptionHandler {

    private final BooleanSupplier verbose;

    public Errors(BooleanSupplier verbose) {
        this.verbose = verbose;
    }

    @Override
    public int handleExecutionException(Exception error, CommandLine command, CommandLine.ParseResult parsed) {
        PrintWriter out = command.getErr();
        out.println(Printable.line(oneLine(error)));
        if (error instanceof StackException stack) {
            stack.lastLines().forEach(line -> out.println("  | " + Printable.line(line)));
        }
        if (verbose.getAsBoolean()) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new PrintWriter(trace));
            trace.toString().lines().forEach(line -> out.println(Printable.line(line)));
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
        out.println(Printable.line(UsageErrors.line(error)));
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
        if (error instanceof UncheckedIOException io) {
            return FileErrors.line(io);
        }
        String line = Printable.firstLine(message);
        return meantForUsers ? line : "%s: %s".formatted(simpleName(error), line);
    }

    private static String simpleName(Exception error) {
        return error.getClass().getSimpleName();
    }
}
