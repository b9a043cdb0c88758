package io.lendstream.launcher.architecture;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.InstanceOfTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import io.lendstream.core.decision.Action;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of source files, types and methods, as the parser of the JDK sees them.
 *
 * @param files lines of each file
 * @param records components of each record
 * @param methods of all types; constructors of records have the parameters of their records, and are left out
 * @param instanceOfs tests of a value for one of the cases of a closed family
 */
record SourceShape(List<File> files, List<RecordType> records, List<Method> methods, List<String> instanceOfs) {
    /** Families that are taken apart by {@code match}, so that a new case does not compile before it is thought of. */
    private static final Set<String> CASES = Stream.of(Owner.class, Event.class, Tenant.class, Action.class)
            .flatMap(family -> Stream.of(family.getPermittedSubclasses()))
            .flatMap(SourceShape::names)
            .collect(Collectors.toUnmodifiableSet());

    /** How sources call a type: by its own name, or by that of the type around it too. */
    private static Stream<String> names(Class<?> type) {
        Class<?> around = type.getEnclosingClass();
        return around == null
                ? Stream.of(type.getSimpleName())
                : Stream.of(type.getSimpleName(), around.getSimpleName() + "." + type.getSimpleName());
    }

    /** A file. */
    record File(Path path, int lines) {}

    /** A record. */
    record RecordType(String name, int components) {}

    /** A method or constructor. */
    record Method(String name, int parameters, int lines) {}

    /** The sources of a kind, {@code main} or {@code test}, of all modules below a directory. */
    static List<Path> sources(Path root, String kind) throws IOException {
        List<Path> found = new ArrayList<>();
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.sorted().toList()) {
                Path sources = module.resolve("src").resolve(kind).resolve("java");
                if (Files.isDirectory(sources)) {
                    try (Stream<Path> all = Files.walk(sources)) {
                        all.filter(path -> path.toString().endsWith(".java")
                                        && !path.endsWith("package-info.java")
                                        && !path.endsWith("module-info.java"))
                                .sorted()
                                .forEach(found::add);
                    }
                }
            }
        }
        return found;
    }

    /** Reads sources. */
    static SourceShape of(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var shape = new SourceShape(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(sources));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                Path path = Path.of(unit.getSourceFile().toUri());
                long lines;
                try (Stream<String> all = Files.lines(path)) {
                    lines = all.count();
                }
                shape.files.add(new File(path, (int) lines));
                new Scanner(shape, unit, positions).scan(unit, null);
            }
        }
        return shape;
    }

    /** Files of the same name, by name. */
    static TreeMap<String, List<Path>> repeatedNames(List<Path> sources) {
        var byName = new TreeMap<String, List<Path>>();
        sources.forEach(path -> byName.computeIfAbsent(path.getFileName().toString(), any -> new ArrayList<>())
                .add(path));
        byName.values().removeIf(paths -> paths.size() == 1);
        return byName;
    }

    private static final class Scanner extends TreePathScanner<@Nullable Void, @Nullable Void> {
        private final SourceShape shape;
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final LineMap lines;
        private String type = "";
        private boolean isRecord;

        Scanner(SourceShape shape, CompilationUnitTree unit, SourcePositions positions) {
            this.shape = shape;
            this.unit = unit;
            this.positions = positions;
            this.lines = unit.getLineMap();
        }

        @Override
        public @Nullable Void visitClass(ClassTree tree, @Nullable Void nothing) {
            String around = type;
            boolean wasRecord = isRecord;
            isRecord = tree.getKind() == Tree.Kind.RECORD;
            type = around.isEmpty()
                    ? unit.getPackageName() + "." + tree.getSimpleName()
                    : around + "." + tree.getSimpleName();
            if (isRecord) {
                long components = tree.getMembers().stream()
                        .filter(member -> member instanceof VariableTree field
                                && !field.getModifiers().getFlags().contains(Modifier.STATIC))
                        .count();
                shape.records.add(new RecordType(type, (int) components));
            }
            super.visitClass(tree, null);
            type = around;
            isRecord = wasRecord;
            return null;
        }

        @Override
        public @Nullable Void visitMethod(MethodTree tree, @Nullable Void nothing) {
            boolean isConstructor = tree.getReturnType() == null;
            if (!(isRecord && isConstructor)) {
                shape.methods.add(new Method(
                        type + "." + tree.getName(), tree.getParameters().size(), lines(tree)));
            }
            return super.visitMethod(tree, null);
        }

        /** From the name, or its annotations, to the closing brace. */
        private int lines(Tree tree) {
            long from = lines.getLineNumber(positions.getStartPosition(unit, tree));
            long to = lines.getLineNumber(positions.getEndPosition(unit, tree));
            return (int) (to - from + 1);
        }

        @Override
        public @Nullable Void visitInstanceOf(InstanceOfTree tree, @Nullable Void nothing) {
            String tested = String.valueOf(tree.getType());
            if (CASES.contains(tested)) {
                shape.instanceOfs.add("%s:%d %s"
                        .formatted(type, lines.getLineNumber(positions.getStartPosition(unit, tree)), tested));
            }
            return super.visitInstanceOf(tree, null);
        }
    }
}
