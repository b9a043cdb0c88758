package io.lendstream.core.persistent;

import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * An immutable map in key order. A change makes a new map in O(log n) that shares all but one path with the old one.
 * Many look-ups in a row are faster in a {@linkplain #hashed() hashed} map.
 *
 * @see <a href="https://doi.org/10.1017/S0956796811000104">Balancing weight-balanced trees, JFP 2011</a>, with its
 *     parameters (3, 2)
 */
public final class PersistentMap<K extends Comparable<? super K>, V> implements Iterable<Map.Entry<K, V>> {
    private static final int DELTA = 3;
    private static final int GAMMA = 2;

    private final @Nullable Tree<K, V> root;

    /** The values by key in the newest of the maps that follow from a hashed one; else look-ups search the tree. */
    private @Nullable Map<K, V> table;

    private PersistentMap(@Nullable Tree<K, V> root, @Nullable Map<K, V> table) {
        this.root = root;
        this.table = table;
    }

    public static <K extends Comparable<? super K>, V> PersistentMap<K, V> empty() {
        return new PersistentMap<>(null, null);
    }

    /**
     * The same entries with a table for look-ups. Changes pass the table on to the next map, so this map and those that
     * follow from it are for one thread, until {@link #shared()}.
     */
    public PersistentMap<K, V> hashed() {
        Map<K, V> values = new HashMap<>(2 * size());
        for (Map.Entry<K, V> entry : this) {
            values.put(entry.getKey(), entry.getValue());
        }
        return new PersistentMap<>(root, values);
    }

    /** The same entries without a table, for any thread. */
    public PersistentMap<K, V> shared() {
        return table == null ? this : new PersistentMap<>(root, null);
    }

    public int size() {
        return size(root);
    }

    public boolean isEmpty() {
        return root == null;
    }

    public Optional<V> get(K key) {
        return Optional.ofNullable(find(key));
    }

    private @Nullable V find(K key) {
        if (table != null) {
            return table.get(key);
        }
        Tree<K, V> tree = root;
        while (tree != null) {
            int order = key.compareTo(tree.key);
            if (order == 0) {
                return tree.value;
            }
            tree = order < 0 ? tree.left : tree.right;
        }
        return null;
    }

    /** The value of a key that has to be there. */
    public V require(K key) {
        V value = find(key);
        if (value == null) {
            throw new NoSuchElementException("no entry for " + key);
        }
        return value;
    }

    public boolean contains(K key) {
        return find(key) != null;
    }

    public PersistentMap<K, V> put(K key, V value) {
        Map<K, V> next = table;
        if (next != null) {
            next.put(key, value);
            table = null;
        }
        return new PersistentMap<>(put(root, key, value), next);
    }

    public PersistentMap<K, V> update(K key, UnaryOperator<V> change) {
        return put(key, change.apply(require(key)));
    }

    public PersistentMap<K, V> remove(K key) {
        if (!contains(key)) {
            return this;
        }
        Map<K, V> next = table;
        if (next != null) {
            next.remove(key);
            table = null;
        }
        return new PersistentMap<>(remove(root, key), next);
    }

    /** The first key in key order. */
    public Optional<K> firstKey() {
        return firstKey(key -> true);
    }

    /**
     * The first key from which on a condition holds.
     *
     * @param from a condition that holds for all keys after one for which it holds
     */
    public Optional<K> firstKey(Predicate<? super K> from) {
        Tree<K, V> tree = root;
        @Nullable K first = null;
        while (tree != null) {
            if (from.test(tree.key)) {
                first = tree.key;
                tree = tree.left;
            } else {
                tree = tree.right;
            }
        }
        return Optional.ofNullable(first);
    }

    /** The values in key order. */
    public Iterable<V> values() {
        return () -> new InOrder<>(root, tree -> tree.value);
    }

    /**
     * The entries in key order, from the first on whose key meets a condition.
     *
     * @param from a condition that holds for all keys after one for which it holds
     */
    public Iterable<Map.Entry<K, V>> from(Predicate<? super K> from) {
        return () -> new InOrder<>(root, tree -> new SimpleImmutableEntry<>(tree.key, tree.value), from);
    }

    /** What a function makes of the values, in key order, one after the other as they are asked for. */
    public <T> Iterable<T> mapped(Function<? super V, ? extends T> function) {
        return () -> new InOrder<>(root, tree -> function.apply(tree.value));
    }

    /** The values in key order. */
    public Stream<V> stream() {
        return StreamSupport.stream(
                Spliterators.spliterator(
                        values().iterator(), size(), Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE),
                false);
    }

    @Override
    public Iterator<Map.Entry<K, V>> iterator() {
        return new InOrder<>(root, tree -> new SimpleImmutableEntry<>(tree.key, tree.value));
    }

    /** Walks a tree in key order. */
    private static final class InOrder<K, V, T> implements Iterator<T> {
        private final Function<Tree<K, V>, T> view;
        private final Tree<K, V>[] path;
        private int depth;

        InOrder(@Nullable Tree<K, V> root, Function<Tree<K, V>, T> view) {
            this(root, view, any -> true);
        }

        @SuppressWarnings({"unchecked", "rawtypes"}) // an array cannot have type parameters
        InOrder(@Nullable Tree<K, V> root, Function<Tree<K, V>, T> view, Predicate<? super K> from) {
            this.view = view;
            this.path = new Tree[mostDepth(size(root))];
            Tree<K, V> tree = root;
            while (tree != null) {
                if (from.test(tree.key)) {
                    path[depth++] = tree;
                    tree = tree.left;
                } else {
                    tree = tree.right;
                }
            }
        }

        private void descend(@Nullable Tree<K, V> from) {
            for (Tree<K, V> tree = from; tree != null; tree = tree.left) {
                path[depth++] = tree;
            }
        }

        @Override
        public boolean hasNext() {
            return depth > 0;
        }

        @Override
        public T next() {
            if (depth == 0) {
                throw new NoSuchElementException("the map has no more entries");
            }
            Tree<K, V> tree = path[--depth];
            descend(tree.right);
            return view.apply(tree);
        }

        /** The weights bound a tree's depth by log(size + 1) / log(4/3). */
        private static int mostDepth(int size) {
            return 1 + (int) (Math.log(size + 1.0) / Math.log(4.0 / 3));
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        if (!(other instanceof PersistentMap<?, ?> map) || map.size() != size()) {
            return false;
        }
        Iterator<? extends Map.Entry<?, ?>> others = map.iterator();
        for (Map.Entry<K, V> entry : this) {
            if (!entry.equals(others.next())) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int hashCode() {
        int hash = 0;
        for (Map.Entry<K, V> entry : this) {
            hash = 31 * hash + entry.hashCode();
        }
        return hash;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<K, V> entry : this) {
            text.append(text.length() > 1 ? ", " : "")
                    .append(entry.getKey())
                    .append('=')
                    .append(entry.getValue());
        }
        return text.append('}').toString();
    }

    private record Tree<K, V>(
            K key,
            V value,
            @Nullable Tree<K, V> left,
            @Nullable Tree<K, V> right,
            int size) {}

    private static int size(@Nullable Tree<?, ?> tree) {
        return tree == null ? 0 : tree.size;
    }

    private static int weight(@Nullable Tree<?, ?> tree) {
        return size(tree) + 1;
    }

    private static <K, V> Tree<K, V> node(K key, V value, @Nullable Tree<K, V> left, @Nullable Tree<K, V> right) {
        return new Tree<>(key, value, left, right, size(left) + size(right) + 1);
    }

    private static <K extends Comparable<? super K>, V> Tree<K, V> put(@Nullable Tree<K, V> tree, K key, V value) {
        if (tree == null) {
            return node(key, value, null, null);
        }
        int order = key.compareTo(tree.key);
        if (order == 0) {
            return new Tree<>(key, value, tree.left, tree.right, tree.size);
        }
        if (order < 0) {
            Tree<K, V> left = put(tree.left, key, value);
            return left.size == size(tree.left)
                    ? new Tree<>(tree.key, tree.value, left, tree.right, tree.size)
                    : balance(tree.key, tree.value, left, tree.right);
        }
        Tree<K, V> right = put(tree.right, key, value);
        return right.size == size(tree.right)
                ? new Tree<>(tree.key, tree.value, tree.left, right, tree.size)
                : balance(tree.key, tree.value, tree.left, right);
    }

    private static <K extends Comparable<? super K>, V> @Nullable Tree<K, V> remove(@Nullable Tree<K, V> tree, K key) {
        if (tree == null) {
            return null;
        }
        int order = key.compareTo(tree.key);
        if (order < 0) {
            return balance(tree.key, tree.value, remove(tree.left, key), tree.right);
        }
        if (order > 0) {
            return balance(tree.key, tree.value, tree.left, remove(tree.right, key));
        }
        if (tree.left == null) {
            return tree.right;
        }
        if (tree.right == null) {
            return tree.left;
        }
        Tree<K, V> least = tree.right;
        while (least.left != null) {
            least = least.left;
        }
        return balance(least.key, least.value, tree.left, remove(tree.right, least.key));
    }

    private static <K, V> Tree<K, V> balance(K key, V value, @Nullable Tree<K, V> left, @Nullable Tree<K, V> right) {
        if (right != null && weight(right) > DELTA * weight(left)) {
            Tree<K, V> inner = right.left;
            if (inner == null || weight(inner) < GAMMA * weight(right.right)) {
                return node(right.key, right.value, node(key, value, left, inner), right.right);
            }
            return node(
                    inner.key,
                    inner.value,
                    node(key, value, left, inner.left),
                    node(right.key, right.value, inner.right, right.right));
        }
        if (left != null && weight(left) > DELTA * weight(right)) {
            Tree<K, V> inner = left.right;
            if (inner == null || weight(inner) < GAMMA * weight(left.left)) {
                return node(left.key, left.value, left.left, node(key, value, inner, right));
            }
            return node(
                    inner.key,
                    inner.value,
                    node(left.key, left.value, left.left, inner.left),
                    node(key, value, inner.right, right));
        }
        return node(key, value, left, right);
    }
}
