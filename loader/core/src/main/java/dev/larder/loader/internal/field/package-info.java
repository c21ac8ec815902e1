/** Reads the fields of samples into slots: rows of arrays, ragged rows, texts and files, unchanged or transformed. */
@NullMarked
package dev.larder.loader.internal.field;

import org.jspecify.annotations.NullMarked;
