package io.lendstream.launcher.cli;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.IHelpSectionRenderer;

/** The commands in the help of their parent, in groups with a title each. */
public final class CommandList implements IHelpSectionRenderer {
    private static final int NAMES = 16;
    private static final int INDENT = 2;

    private final Map<String, List<String>> groups;

    /** @param groups names of commands by the title of their group; commands of no group follow */
    public CommandList(Map<String, List<String>> groups) {
        this.groups = new LinkedHashMap<>(groups);
    }

    @Override
    public String render(Help help) {
        Map<String, Help> commands = help.subcommands();
        Set<String> left = new LinkedHashSet<>(commands.keySet());
        StringBuilder text = new StringBuilder();
        groups.forEach((title, names) -> {
            List<String> known = names.stream().filter(left::remove).toList();
            text.append(group(help, title, known));
        });
        return text.append(group(help, "Commands", List.copyOf(left))).toString();
    }

    private static String group(Help help, String title, List<String> names) {
        if (names.isEmpty()) {
            return "";
        }
        int width = help.commandSpec().usageMessage().width();
        TextTable table = TextTable.forColumns(
                help.colorScheme(),
                new Column(NAMES, INDENT, Overflow.SPAN),
                new Column(width - NAMES, 1, Overflow.WRAP));
        for (String name : names) {
            Help command = Objects.requireNonNull(help.subcommands().get(name));
            String[] description = command.commandSpec().usageMessage().description();
            table.addRowValues(name, description.length == 0 ? "" : description[0]);
        }
        return "%n%s:%n%s".formatted(title, table);
    }
}
