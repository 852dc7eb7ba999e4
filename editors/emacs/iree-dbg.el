;;; iree-dbg.el --- MLIR and IREE VM assembly with iree-dbg's language server -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

;;; Commentary:

;; Two small modes and their registration with Eglot, which is part of Emacs 29; in Emacs 28, `package-install' it.  A
;; compiled module (.vmfb) opens as its disassembly.
;;
;;   (load "path/to/iree-dbg.el")
;;   (add-hook 'iree-dbg-mode-hook #'eglot-ensure)

;;; Code:

(defgroup iree-dbg nil "Debugger and language server for IREE." :group 'languages)

(defcustom iree-dbg-program "iree-dbg"
  "The iree-dbg program."
  :type 'string)

(defconst iree-dbg-font-lock
  '(("//.*" . font-lock-comment-face)
    ("\"\\(?:[^\"\\\n]\\|\\\\.\\)*\"" . font-lock-string-face)
    ("@[[:alnum:]_.$-]+" . font-lock-function-name-face)
    ("%[[:alnum:]_.$-]+" . font-lock-variable-name-face)
    ("[#!^][[:alnum:]_.$-]+" . font-lock-type-face)
    ("\\_<[a-z_]+\\(?:\\.[[:alnum:]_]+\\)+" . font-lock-keyword-face))
  "Colours until those of the server arrive.")

(define-derived-mode iree-dbg-mode prog-mode "MLIR"
  "MLIR and IREE VM assembly."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "//+ *")
  (setq-local font-lock-defaults '(iree-dbg-font-lock t)))

(define-derived-mode iree-dbg-vmasm-mode iree-dbg-mode "VM assembly"
  "IREE VM assembly.")

(define-derived-mode iree-dbg-module-mode iree-dbg-vmasm-mode "IREE module"
  "A compiled module of IREE, as its disassembly."
  (let ((inhibit-read-only t)
        (file buffer-file-name))
    (erase-buffer)
    (call-process iree-dbg-program nil t nil "dump" "--output=disassembly" "--bytecode_offsets" file)
    (goto-char (point-min))
    ;; Saving would write the text over the module.
    (setq buffer-file-name nil
          buffer-file-truename nil)
    (setq buffer-read-only t)
    (set-buffer-modified-p nil)))

(add-to-list 'auto-mode-alist '("\\.mlir\\'" . iree-dbg-mode))
(add-to-list 'auto-mode-alist '("\\.vmasm\\'" . iree-dbg-vmasm-mode))
(add-to-list 'auto-mode-alist '("\\.vmfb\\'" . iree-dbg-module-mode))

(defvar eglot-server-programs)

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs
               `(((iree-dbg-mode :language-id "mlir") (iree-dbg-vmasm-mode :language-id "vmasm"))
                 . (,iree-dbg-program "lsp"))))

(provide 'iree-dbg)
;;; iree-dbg.el ends here
