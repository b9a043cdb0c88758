package io.lendstream.service.health;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The open connections, oldest first, limited in number and in time. */
final class OpenConnections {
    /** The most connections that are open at the same time. */
    static final int MOST = 64;

    private static final Logger LOG = LoggerFactory.getLogger(OpenConnections.class);

    private final Set<Connection> open = new LinkedHashSet<>();
    private final Duration timeLimit;

    OpenConnections(Duration timeLimit) {
        this.timeLimit = timeLimit;
    }

    /** One client. */
    static final class Connection {
        private final Socket socket;
        private final long since = System.nanoTime();
        private volatile boolean complete;

        private Connection(Socket socket) {
            this.socket = socket;
        }

        Socket socket() {
            return socket;
        }

        /** Records that the whole request has arrived: incomplete connections are closed before this one. */
        void isComplete() {
            complete = true;
        }
    }

    /** Adds a new connection, and closes another one if too many are open. */
    synchronized Connection open(Socket socket) {
        if (open.size() >= MOST) {
            Connection least = open.stream()
                    .filter(connection -> !connection.complete)
                    .findFirst()
                    .orElseGet(() -> open.iterator().next());
            open.remove(least);
            shut(least);
        }
        var connection = new Connection(socket);
        open.add(connection);
        return connection;
    }

    synchronized void close(Connection connection) {
        open.remove(connection);
        shut(connection);
    }

    synchronized void closeOverdue() {
        long now = System.nanoTime();
        for (Iterator<Connection> each = open.iterator(); each.hasNext(); ) {
            Connection connection = each.next();
            if (now - connection.since < timeLimit.toNanos()) {
                return; // the following connections are younger
            }
            each.remove();
            shut(connection);
        }
    }

    synchronized void closeAll() {
        List<Connection> all = new ArrayList<>(open);
        open.clear();
        all.forEach(OpenConnections::shut);
    }

    synchronized int count() {
        return open.size();
    }

    /** Closes the TCP connection itself without waiting; a thread that reads from it gets an exception. */
    private static void shut(Connection connection) {
        try {
            connection.socket.close();
        } catch (IOException e) {
            LOG.trace("cannot close a connection", e);
        }
    }
}
