/**
 * What clients ask of the daemon and what it answers, as messages in frames: {@link dev.larder.internal.protocol.RequestCodec} and
 * {@link dev.larder.internal.protocol.ResponseCodec} write and read them. The schema {@code larder-protocol.xml} beside this package
 * specifies every byte.
 */
@NullMarked
package dev.larder.internal.protocol;

import org.jspecify.annotations.NullMarked;
